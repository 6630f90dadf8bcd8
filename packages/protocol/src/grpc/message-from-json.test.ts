import { expect, it } from 'vitest'
import { parseJson } from '../v2/json-value.ts'
import { writeJson, type WritableJson } from '../v2/write-json.ts'
import { decodeMessage } from './decode-message.ts'
import { encodeMessage } from './encode-message.ts'
import { messageFromJson } from './message-from-json.ts'

const read = (name: string, value: WritableJson) => messageFromJson(name, parseJson(writeJson(value)))

it.each<[string, WritableJson]>([
  ['ModelMetadataResponse', { name: 'm', versions: ['1'], inputs: [{ name: 'I', datatype: 'FP32', shape: [-1, 16] }] }],
  [
    'ModelStatisticsResponse',
    {
      model_stats: [
        { name: 'm', last_inference: 2n ** 60n, inference_stats: { success: { count: 1, ns: 2n ** 63n } } },
      ],
    },
  ],
  [
    'ModelStatistics',
    { response_stats: { '0': { success: { count: 3, ns: 4 } } }, memory_usage: [{ type: 'CPU', id: 0, byte_size: 9 }] },
  ],
  ['ServerReadyResponse', { ready: true }],
])('%s is the same record by either wire', (name, value) => {
  const record = read(name, value)
  expect(decodeMessage(name, encodeMessage(name, record))).toEqual(record)
})

it('leaves out what it does not know, and null', () => {
  expect(read('ServerMetadataResponse', { name: 's', version: null, newer: [1] })).toEqual({
    name: 's',
    version: '',
    extensions: [],
  })
})

it.each<[string, WritableJson, string]>([
  ['ServerMetadataResponse', [], 'expected ServerMetadataResponse as a JSON object'],
  ['ServerMetadataResponse', { name: 1 }, "expected 'name' to be a string"],
  ['ServerMetadataResponse', { extensions: 'x' }, "expected 'extensions' to be an array"],
  ['ServerReadyResponse', { ready: 'yes' }, "expected 'ready' to be a boolean"],
  ['ModelStatistics', { inference_count: 1.5 }, "expected 'inference_count' to be an integer"],
  ['ModelStatistics', { inference_stats: 3 }, 'expected InferStatistics as a JSON object'],
])('%s refuses %j', (name, value, message) => {
  expect(() => read(name, value)).toThrow(message)
})
