import { expect, it } from 'vitest'
import { iterateBytes } from '../bytes.ts'
import type { Tensor } from '../tensor.ts'
import { classify, classifyOutputs, formatFixed } from './classify.ts'
import { createRequest } from './parse-request.ts'

const toBytes = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
const fp32 = (shape: number[], ...values: number[]): Tensor => ({
  name: 'OUT',
  datatype: 'FP32',
  shape,
  data: toBytes(Float32Array.from(values)),
})
const items = (tensor: Tensor) => [...iterateBytes(tensor.data)].map((bytes) => new TextDecoder().decode(bytes))
const LABELS = ['ant', 'bee', 'cat', 'dog']
const SCORES = [0.1, 0.5, -1.25, 3, 0.25]

it('ranks every row of a batch, with labels where there are some', () => {
  const result = classify(fp32([2, 5], ...SCORES, 5, 4, 3, 2, 1), { k: 3, labels: LABELS, batched: true })
  expect(result).toMatchObject({ name: 'OUT', datatype: 'BYTES', shape: [2, 3] })
  expect(items(result)).toEqual([
    '3.000000:3:dog',
    '0.500000:1:bee',
    '0.250000:4',
    '5.000000:0:ant',
    '4.000000:1:bee',
    '3.000000:2:cat',
  ])
})

it('takes a model without batching as one item and bounds k by its size', () => {
  const result = classify(fp32([5], ...SCORES), { k: 99, labels: undefined, batched: false })
  expect(result.shape).toEqual([5])
  expect(items(result)).toEqual(['3.000000:3', '0.500000:1', '0.250000:4', '0.100000:0', '-1.250000:2'])
})

it('prints integers as integers, exactly', () => {
  const data = toBytes(BigInt64Array.of(9007199254740993n, 9007199254740992n, -1n))
  expect(
    items(classify({ name: 'OUT', datatype: 'INT64', shape: [3], data }, { k: 2, labels: undefined, batched: false })),
  ).toEqual(['9007199254740993:0', '9007199254740992:1'])
})

it('ranks many classes like few', () => {
  const values = Array.from({ length: 1000 }, (_, i) => (i * 7919) % 1000)
  const all = items(classify(fp32([1000], ...values), { k: 1000, labels: undefined, batched: false }))
  const few = items(classify(fp32([1000], ...values), { k: 50, labels: undefined, batched: false }))
  expect(all.slice(0, 50)).toEqual(few)
  expect(all).toHaveLength(1000)
  expect(all[0]).toBe(`999.000000:${values.indexOf(999)}`)
})

it('puts NaN last and keeps the order of equals', () => {
  expect(items(classify(fp32([4], Number.NaN, 1, 1, 2), { k: 4, labels: undefined, batched: false }))).toEqual([
    '2.000000:3',
    '1.000000:1',
    '1.000000:2',
    'nan:0',
  ])
})

it('answers an empty batch with an empty tensor', () => {
  expect(classify(fp32([0, 5]), { k: 2, labels: undefined, batched: true })).toMatchObject({
    shape: [0, 0],
    data: new Uint8Array(0),
  })
})

it.each(['BYTES', 'BOOL', 'FP16'] as const)('refuses %s', (datatype) => {
  const tensor: Tensor = { name: 'OUT', datatype, shape: [1], data: new Uint8Array(2) }
  expect(() => classify(tensor, { k: 1, labels: undefined, batched: false })).toThrow(
    `class result not available for output due to unsupported type '${datatype}'`,
  )
})

it('refuses more than a million elements', () => {
  const tensor: Tensor = { name: 'OUT', datatype: 'UINT8', shape: [1_000_001], data: new Uint8Array(1_000_001) }
  expect(() => classify(tensor, { k: 1, labels: undefined, batched: false })).toThrow(
    'classification output tensor too large',
  )
})

it('applies only what the request asks for', () => {
  const response = {
    model: 'm',
    version: '1',
    id: '',
    parameters: {},
    outputs: [fp32([2], 1, 2), { ...fp32([2], 1, 2), name: 'RAW' }],
  }
  const request = createRequest({ model: 'm', version: '' })
  const model = { batched: false, labels: () => undefined }
  expect(classifyOutputs(response, request, model)).toBe(response)
  request.outputs = [{ name: 'OUT', binary: false, classification: 1, region: undefined }]
  expect(classifyOutputs(response, request, model).outputs.map(({ datatype }) => datatype)).toEqual(['BYTES', 'FP32'])
})

it.each([
  [0.8702435493469238, '0.870244'],
  [-0, '-0.000000'],
  [1e21, '1000000000000000000000.000000'],
  [3.4028234663852886e38, '340282346638528859811704183484516925440.000000'],
  [Infinity, 'inf'],
  [-Infinity, '-inf'],
  // Ties go to the even digit, as in C.
  [0.0078125, '0.007812'],
  [0.0234375, '0.023438'],
  [-0.0078125, '-0.007812'],
  [5e-7, '0.000000'],
])('prints %d as C does', (value, text) => {
  expect(formatFixed(value)).toBe(text)
})
