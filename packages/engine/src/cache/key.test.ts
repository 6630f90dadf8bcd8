import fc from 'fast-check'
import { expect, it } from 'vitest'
import { testRequest } from '../testing.ts'
import { makeKey, nameOutputs } from './key.ts'

const input = fc.record({
  name: fc.string({ minLength: 1, maxLength: 4, unit: fc.constantFrom('a', 'b', ' ', ':', '1', '\u{1f40c}') }),
  datatype: fc.constantFrom('FP32' as const, 'INT32' as const, 'BYTES' as const),
  shape: fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 3 }),
  data: fc.uint8Array({ maxLength: 8 }),
})
const request = fc
  .record({ inputs: fc.uniqueArray(input, { maxLength: 3, selector: ({ name }) => name }), wanted: fc.string() })
  .map(({ inputs, wanted }) => ({ made: testRequest('m', inputs), wanted }))

/** Everything that must tell two requests apart, compared without hashing. */
const describe = ({ made, wanted }: { made: ReturnType<typeof testRequest>; wanted: string }) =>
  JSON.stringify([
    wanted,
    made.inputs
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, datatype, shape, data }) => [name, datatype, shape, [...data]]),
  ])

it('is equal for equal requests and for no others', () => {
  fc.assert(
    fc.property(request, request, (a, b) => {
      const same = describe(a) === describe(b)
      for (const printable of [true, false])
        expect(makeKey(a.made, a.wanted, printable) === makeKey(b.made, b.wanted, printable)).toBe(same)
      expect(makeKey(a.made, a.wanted, true)).toMatch(/^[\w-]{43}$/)
    }),
    { numRuns: 3_000 },
  )
})

it('does not depend on the order of inputs, on ids or parameters', () => {
  fc.assert(
    fc.property(request, ({ made, wanted }) => {
      const other = { ...made, inputs: made.inputs.toReversed(), id: 'x', parameters: { p: 1n }, priority: 2 }
      expect(makeKey(other, wanted, false)).toBe(makeKey(made, wanted, false))
    }),
  )
})

it.each([100, 16_200, 16_384, 16_385, 100_000])('takes every byte of %i into account', (length) => {
  const data = new Uint8Array(length)
  const hash = () => makeKey(testRequest('m', [{ name: 'IN', datatype: 'UINT8', shape: [length], data }]), '', false)
  const before = hash()
  expect(hash()).toBe(before)
  data[length - 1] = 1
  expect(hash()).not.toBe(before)
})

it('spells the outputs that are asked for in one way', () => {
  const all = new Set(['A', 'B', 'C'])
  const name = (...outputs: string[]) =>
    nameOutputs(
      testRequest('m', [], {
        outputs: outputs.map((one) => ({ name: one, binary: true, classification: 0, region: undefined })),
      }),
      all,
    )
  expect(name()).toBe('')
  expect(name('C', 'A', 'B')).toBe('')
  expect(name('B', 'A')).toBe(name('A', 'B'))
  expect(new Set([name(), name('A'), name('B'), name('A', 'B')]).size).toBe(4)
})
