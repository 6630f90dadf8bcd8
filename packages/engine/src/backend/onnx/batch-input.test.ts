import { expect, it } from 'vitest'
import type { BatchInput } from '@conch/protocol'
import { activeRequest, tensor } from '../contract.suite.ts'
import { generateBatchInput } from './batch-input.ts'

const requests = [
  [1, 3],
  [2, 2],
  [1, 0],
].map((shape) => activeRequest([tensor('OTHER', 'FP32', [1, 9]), tensor('IN', 'FP32', shape)], shape[0]))

function generate(kind: BatchInput['kind'], type: 'TYPE_INT32' | 'TYPE_FP32' = 'TYPE_INT32') {
  const rule: BatchInput = { kind, target_name: ['T'], data_type: type, source_input: ['IN'] }
  const { shape, data } = generateBatchInput(rule, requests)
  const values = type === 'TYPE_INT32' ? new Int32Array(data.buffer) : new Float32Array(data.buffer)
  return { shape, values: [...values] }
}

it.each([
  ['BATCH_ELEMENT_COUNT', [3], [3, 2, 0]],
  ['BATCH_ACCUMULATED_ELEMENT_COUNT', [3], [3, 5, 5]],
  ['BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO', [4], [0, 3, 5, 5]],
  ['BATCH_MAX_ELEMENT_COUNT_AS_SHAPE', [3], [0, 0, 0]],
  ['BATCH_ITEM_SHAPE', [4, 1], [3, 2, 2, 0]],
  ['BATCH_ITEM_SHAPE_FLATTEN', [4], [3, 2, 2, 0]],
] as const)('%s has shape %j and values %j', (kind, shape, values) => {
  expect(generate(kind)).toEqual({ shape, values })
  expect(generate(kind, 'TYPE_FP32')).toEqual({ shape, values })
})
