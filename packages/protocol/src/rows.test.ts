import fc from 'fast-check'
import { expect, it } from 'vitest'
import { encodeBytes, findBytesEnd, iterateBytes } from './bytes.ts'
import { concatRows, sliceRows } from './rows.ts'
import type { Tensor } from './tensor.ts'

const rows = (count: number): fc.Arbitrary<Tensor> =>
  fc.oneof(
    fc
      .array(fc.string(), { minLength: count * 2, maxLength: count * 2 })
      .map((items) => ({ name: 'T', datatype: 'BYTES' as const, shape: [count, 2], data: encodeBytes(items) })),
    fc
      .uint8Array({ minLength: count * 6, maxLength: count * 6 })
      .map((data) => ({ name: 'T', datatype: 'INT16' as const, shape: [count, 3], data })),
  )

it('cuts a batch into rows and joins them again', () => {
  const batch = fc
    .integer({ min: 1, max: 6 })
    .chain((count) => fc.tuple(rows(count), fc.integer({ min: 0, max: count })))
  fc.assert(
    fc.property(batch, ([tensor, cut]) => {
      const count = tensor.shape[0] ?? 0
      const parts = [sliceRows(tensor, 0, cut), sliceRows(tensor, cut, count - cut)]
      expect(parts.map((part) => part.shape[0])).toEqual([cut, count - cut])
      expect(concatRows(parts)).toEqual(tensor)
    }),
  )
})

it('slices without copying', () => {
  const tensor: Tensor = { name: 'T', datatype: 'FP32', shape: [4, 2], data: new Uint8Array(32) }
  expect(sliceRows(tensor, 1, 2).data.buffer).toBe(tensor.data.buffer)
  expect(concatRows([tensor])).toBe(tensor)
})

it('names a tensor whose strings do not fill its shape', () => {
  const tensor: Tensor = { name: 'T', datatype: 'BYTES', shape: [3], data: encodeBytes(['a']) }
  expect(() => sliceRows(tensor, 1, 1)).toThrow("tensor 'T' holds fewer strings than its shape [3] says")
})

it('stops before a string that is cut off', () => {
  const data = encodeBytes(['ab', 'c'])
  expect([...iterateBytes(data)].map((item) => item.length)).toEqual([2, 1])
  expect([...iterateBytes(data.subarray(0, 10))]).toHaveLength(1)
  expect(findBytesEnd(Uint8Array.of(255, 255, 255, 255), 0)).toBe(-1)
})
