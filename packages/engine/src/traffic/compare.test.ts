import type { Datatype, Tensor } from '@conch/protocol'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { findDifference } from './compare.ts'

const EXACT = { absolute: 0, relative: 0 }
const floats = (values: readonly number[], name = 'OUT'): Tensor => {
  return { name, datatype: 'FP32', shape: [values.length], data: new Uint8Array(Float32Array.from(values).buffer) }
}
const compare = (a: readonly number[], b: readonly number[], tolerance = EXACT) =>
  findDifference([floats(a)], [floats(b)], tolerance)

it('tells the first element that is too far off', () => {
  expect(compare([1, 2, 3], [1, 2, 3])).toBeUndefined()
  expect(compare([1, 2, 3], [1, 2.5, 4])).toBe("output 'OUT' has element 1 = 2.5 instead of 2")
  expect(compare([1, 2], [1, 2.5], { absolute: 0.5, relative: 0 })).toBeUndefined()
  expect(compare([-100], [-101], { absolute: 0, relative: 0.01 })).toBeUndefined()
  expect(compare([-100], [-101.5], { absolute: 0, relative: 0.01 })).toBe(
    "output 'OUT' has element 0 = -101.5 instead of -100",
  )
})

it('takes a NaN and an infinity for themselves only', () => {
  const wide = { absolute: 1e30, relative: 1e30 }
  expect(compare([Number.NaN, Infinity], [Number.NaN, Infinity])).toBeUndefined()
  expect(compare([Number.NaN], [0], wide)).toContain('instead of NaN')
  expect(compare([0], [Number.NaN], wide)).toContain('= NaN')
  expect(compare([Infinity], [-Infinity], wide)).toContain('instead of Infinity')
})

it('tells other outputs, types and shapes, and not another order', () => {
  const [a, b] = [floats([1], 'A'), floats([2], 'B')]
  expect(findDifference([a, b], [b, a], EXACT)).toBeUndefined()
  expect(findDifference([a, b], [a], EXACT)).toBe("output 'B' is missing")
  expect(findDifference([a], [a, b], EXACT)).toBe("output 'B' is new")
  const twin = (change: Partial<Tensor>) => findDifference([a], [{ ...a, ...change }], EXACT)
  expect(twin({ datatype: 'INT32' })).toBe("output 'A' is INT32 instead of FP32")
  expect(twin({ shape: [1, 1] })).toBe("output 'A' has shape [1,1] instead of [1]")
})

it.each(['INT32', 'BYTES', 'BOOL'] as Datatype[])('compares %s exactly, whatever the tolerance', (datatype) => {
  const tensor = (data: number[]): Tensor => ({ name: 'OUT', datatype, shape: [1], data: Uint8Array.from(data) })
  const wide = { absolute: 100, relative: 1 }
  expect(findDifference([tensor([1, 0, 0, 0])], [tensor([2, 0, 0, 0])], wide)).toBe("output 'OUT' has other elements")
})

it('knows half floats', () => {
  const half = (bits: number): Tensor => {
    return { name: 'OUT', datatype: 'FP16', shape: [1], data: new Uint8Array(Uint16Array.of(bits).buffer) }
  }
  // 1 and the next number above.
  expect(findDifference([half(0x3c00)], [half(0x3c01)], { absolute: 0.001, relative: 0 })).toBeUndefined()
  expect(findDifference([half(0x3c00)], [half(0x3c02)], { absolute: 0.001, relative: 0 })).toContain('instead of 1')
})

it('calls equal what is equal, and never what is further off than it may be', () => {
  const value = fc.float({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 })
  fc.assert(
    fc.property(
      fc.array(value, { minLength: 1 }),
      fc.double({ min: 0.001, max: 10, noNaN: true }),
      (values, absolute) => {
        expect(compare(values, values)).toBeUndefined()
        const moved = values.map((one, i) => (i === 0 ? one + 3 * absolute + 1 : one))
        expect(compare(values, moved, { absolute, relative: 0 })).toContain('element 0')
      },
    ),
    { numRuns: 500 },
  )
})
