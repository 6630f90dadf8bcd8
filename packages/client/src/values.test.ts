import * as fc from 'fast-check'
import type { Datatype } from '@conch/protocol'
import { expect, it } from 'vitest'
import { encodeValues, readTexts, readValues, type InputValues, type OutputValues } from './values.ts'

function pass<D extends Datatype>(datatype: D, values: InputValues[D]): OutputValues[D] {
  const data = encodeValues(datatype, values)
  return readValues({ name: 'T', datatype, shape: [values.length], data }, datatype)
}
const integers = (bits: number, signed: boolean) => {
  const least = signed ? -(2 ** (bits - 1)) : 0
  return fc.array(fc.integer({ min: least, max: least + 2 ** bits - 1 }))
}

it.each([
  ['UINT8', integers(8, false)],
  ['UINT16', integers(16, false)],
  ['UINT32', integers(32, false)],
  ['INT8', integers(8, true)],
  ['INT16', integers(16, true)],
  ['INT32', integers(32, true)],
  ['FP32', fc.array(fc.float())],
  ['FP64', fc.array(fc.double())],
  ['FP16', fc.array(fc.integer({ min: -2_048, max: 2_048 }).map((x) => x / 8))],
  ['BF16', fc.array(fc.integer({ min: -128, max: 128 }).map((x) => x * 2 ** 100))],
] as const)('numbers go through %s unchanged', (datatype, lists) => {
  fc.assert(
    fc.property(lists, (list) => {
      expect(Array.from(pass(datatype, list))).toEqual(list)
    }),
  )
})

it.each(['INT64', 'UINT64'] as const)('bigints go through %s unchanged, safe numbers become them', (datatype) => {
  const least = datatype === 'INT64' ? -(2n ** 63n) : 0n
  const lists = fc.array(fc.oneof(fc.bigInt({ min: least, max: least + 2n ** 64n - 1n }), fc.maxSafeNat()))
  fc.assert(
    fc.property(lists, (list) => {
      expect([...pass(datatype, list)]).toEqual(list.map(BigInt))
    }),
  )
})

it('truths and texts go through', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean()), (list) => {
      expect(pass('BOOL', list)).toEqual(list)
    }),
  )
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), (list) => {
      const data = encodeValues('BYTES', list)
      expect(readTexts({ name: 'T', datatype: 'BYTES', shape: [list.length], data })).toEqual(list)
    }),
  )
})

it('an array of the datatype’s own type is not copied', () => {
  const values = new Float32Array(4)
  expect(encodeValues('FP32', values).buffer).toBe(values.buffer)
  const wide = new BigInt64Array(4).subarray(2)
  expect(encodeValues('INT64', wide)).toMatchObject({ buffer: wide.buffer, byteOffset: 16, byteLength: 16 })
})

it('reads elements from any alignment, of a Node buffer too', () => {
  const data = Buffer.concat([Buffer.from([9]), Buffer.from(Float32Array.of(1.5, 2.5).buffer)]).subarray(1)
  expect(readValues({ name: 'T', datatype: 'FP32', shape: [2], data }, 'FP32')).toEqual(Float32Array.of(1.5, 2.5))
})

it.each([
  ['INT8', 128],
  ['UINT8', -1],
  ['INT32', 0.5],
  ['UINT32', Number.NaN],
  ['INT64', 2 ** 53],
  ['INT64', 0.5],
  ['INT64', 2n ** 63n],
  ['UINT64', -1n],
] as const)('%s refuses %s', (datatype, value) => {
  expect(() => encodeValues(datatype, [value] as never)).toThrow(`${datatype} cannot hold ${value}`)
})

it('refuses a tensor whose data does not fill its shape', () => {
  const tensor = (datatype: Datatype, size: number) => ({ name: 'T', datatype, shape: [2], data: new Uint8Array(size) })
  expect(() => readValues(tensor('FP32', 4), 'FP32')).toThrow("'T' came with 1 elements, its shape [2] says 2")
  expect(() => readValues(tensor('FP32', 9), 'FP32')).toThrow("'T' came with 2 elements")
  expect(() => readValues(tensor('BYTES', 7), 'BYTES')).toThrow("'T' came with 1 elements")
})
