import { expect, it } from 'vitest'
import type { ModelConfig, ModelInput } from '../config/schema.ts'
import { parseRawRequest } from './raw-request.ts'

const TARGET = { model: 'm', version: '', maxInputSize: 64 }
const input = (data_type: ModelInput['data_type'], dims: number[]): ModelInput => ({
  name: 'IN',
  data_type,
  dims,
  format: 'FORMAT_NONE',
  is_shape_tensor: false,
  allow_ragged_batch: false,
  optional: false,
  is_non_linear_format_io: false,
})
const config = (max_batch_size: number, ...inputs: ModelInput[]): Pick<ModelConfig, 'max_batch_size' | 'input'> => ({
  max_batch_size,
  input: inputs,
})

it.each([
  [8, [4], 16, [1, 4]],
  [0, [-1], 28, [7]],
  [0, [2, -1], 24, [2, 3]],
  [8, [-1, 2], 16, [1, 2, 2]],
])('deduces the shape: batch %i, dims %j, %i bytes', (batch, dims, size, shape) => {
  const request = parseRawRequest(new Uint8Array(size), TARGET, config(batch, input('TYPE_FP32', dims)))
  expect(request).toMatchObject({ model: 'm', binaryOutputs: true, inputs: [{ name: 'IN', datatype: 'FP32', shape }] })
})

it('puts a length before text', () => {
  const request = parseRawRequest(new TextEncoder().encode('ab'), TARGET, config(1, input('TYPE_STRING', [1])))
  expect(request.inputs[0]).toMatchObject({ datatype: 'BYTES', shape: [1, 1], data: Uint8Array.of(2, 0, 0, 0, 97, 98) })
})

it.each([
  [
    config(0),
    4,
    "[request id: <id_unknown>] Raw request must only have 1 input (found 1) to be deduced but got 0 inputs in 'm' model configuration",
  ],
  [config(0, input('TYPE_FP32', [1]), input('TYPE_FP32', [1])), 4, 'but got 2 inputs'],
  [
    config(0, input('TYPE_FP32', [-1, -1])),
    4,
    "The shape of the raw input 'IN' can not be deduced because there are more than one variable-sized dimension",
  ],
  [config(0, input('TYPE_STRING', [2])), 4, "For BYTE datatype raw input 'IN', the model must have input shape [1]"],
  [
    config(0, input('TYPE_FP32', [-1])),
    68,
    'Raw input has a byte_size (68 bytes) that exceeds the maximum allowed value of 64 bytes. Use --http-max-input-size to increase the limit.',
  ],
])('refuses what cannot be deduced (%#)', (model, size, message) => {
  expect(() => parseRawRequest(new Uint8Array(size), TARGET, model)).toThrow(message)
})
