import { encodeBytes, toBytes } from '@conch/protocol'
import type { Datatype } from '@conch/protocol'
import { expect, it } from 'vitest'
import { printFloat, printTensor } from './print-tensor.ts'

/** What `std::ostream << float` prints. */
it.each([
  [0, '0'],
  [-0, '-0'],
  [1, '1'],
  [-2.5, '-2.5'],
  [123456, '123456'],
  [1234567, '1.23457e+06'],
  [999999.5, '1e+06'],
  [0.0001, '0.0001'],
  [0.00001, '1e-05'],
  [1 / 3, '0.333333'],
  [1e100, '1e+100'],
  [Infinity, 'inf'],
  [-Infinity, '-inf'],
  [Number.NaN, 'nan'],
])('prints %d as %s', (value, text) => {
  expect(printFloat(value)).toBe(text)
})

it.each<[Datatype, Uint8Array, string]>([
  ['FP32', toBytes(Float32Array.of(1, 0.1)), '1,0.1'],
  ['INT64', toBytes(BigInt64Array.of(-(2n ** 63n), 3n)), '-9223372036854775808,3'],
  ['BOOL', Uint8Array.of(1, 0), '1,0'],
  ['INT8', toBytes(Int8Array.of(-1, 65)), '-1,65'],
  ['FP16', Uint8Array.of(0, 60), ''],
  ['BYTES', encodeBytes(['a', 'b"c']), '"a","b"c"'],
  ['INT32', new Uint8Array(0), ''],
])('prints %s', (datatype, data, text) => {
  expect(printTensor({ name: 'x', datatype, shape: [2], data })).toBe(text)
})
