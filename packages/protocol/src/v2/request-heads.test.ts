import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseInferRequest } from './parse-request.ts'
import { RequestHeads } from './request-heads.ts'

const target = { model: 'm', version: '', maxInputSize: 1_000_000 }
const encode = (text: string) => new TextEncoder().encode(text)

function body(json: object, ...elements: number[]): { bytes: Uint8Array; head: number } {
  const text = encode(JSON.stringify(json))
  return { bytes: new Uint8Array([...text, ...elements]), head: text.length }
}
const input = (name: string, size: number, more: object = {}) => ({
  name,
  datatype: 'UINT8',
  shape: [size],
  parameters: { binary_data_size: size },
  ...more,
})

it('gives each request its own elements', () => {
  const heads = new RequestHeads()
  for (let turn = 0; turn < 3; turn += 1) {
    const { bytes, head } = body({ inputs: [input('A', 2), input('B', 1)] }, turn, turn + 1, turn + 2)
    const { inputs } = heads.parse(bytes, head, target)
    expect(inputs.map(({ name, data }) => [name, ...data])).toEqual([
      ['A', turn, turn + 1],
      ['B', turn + 2],
    ])
  }
})

it('does not take one model, version or body length for another', () => {
  const heads = new RequestHeads()
  const { bytes, head } = body({ inputs: [input('A', 1)] }, 7)
  heads.parse(bytes, head, target)
  expect(heads.parse(bytes, head, { ...target, model: 'n' }).model).toBe('n')
  expect(heads.parse(bytes, head, { ...target, version: '2' }).version).toBe('2')
  expect(() => heads.parse(new Uint8Array([...bytes, 8]), head, target)).toThrow('unexpected additional input data')
  expect(() => heads.parse(bytes.subarray(0, head), head, target)).toThrow('expecting 1 additional bytes')
})

it('keeps apart what clients send in turn, however many they are', () => {
  const heads = new RequestHeads()
  for (let turn = 0; turn < 2; turn += 1) {
    for (let i = 100; i < 400; i += 1) {
      const { bytes, head } = body({ inputs: [input(`I${i}`, 1)] }, i % 256)
      expect(heads.parse(bytes, head, target).inputs).toMatchObject([{ name: `I${i}`, data: Uint8Array.of(i) }])
    }
  }
})

const anyInput = fc.record({ name: fc.constantFrom('A', 'B'), size: fc.nat(3), json: fc.boolean() })
const anyBody = fc.record({
  inputs: fc.array(anyInput, { maxLength: 3 }),
  id: fc.constantFrom(undefined, 'x'),
  parameters: fc.constantFrom(undefined, {}, { sequence_id: 3 }, { priority: 2, binary_data_output: true, own: 1.5 }),
  outputs: fc.constantFrom(undefined, [{ name: 'O', parameters: { binary_data: true } }]),
  surplus: fc.constantFrom(0, 0, 0, 1),
})

it('answers as the parser without a memory does', () => {
  fc.assert(
    fc.property(fc.array(anyBody, { maxLength: 8 }), fc.nat(255), (requests, element) => {
      const heads = new RequestHeads()
      for (const { inputs, surplus, ...rest } of [...requests, ...requests]) {
        const described = inputs.map(({ name, size, json }) =>
          json ? { name, datatype: 'UINT8', shape: [size], data: Array<number>(size).fill(1) } : input(name, size),
        )
        const size = inputs.reduce<number>((sum, one) => sum + (one.json ? 0 : one.size), surplus)
        const { bytes, head } = body({ ...rest, inputs: described }, ...Array<number>(size).fill(element))
        const outcome = (parse: typeof parseInferRequest) => {
          try {
            return parse(bytes, head, target)
          } catch (error) {
            return String(error)
          }
        }
        expect(outcome((...given) => heads.parse(...given))).toEqual(outcome(parseInferRequest))
      }
    }),
  )
})
