import { checkConfig, normaliseConfig } from '@conch/protocol'
import { expect, it } from 'vitest'
import { configOf, contextOf } from '../contract.suite.ts'
import { createOnnxBackend } from './backend.ts'

const backend = createOnnxBackend()

async function completeModel(model: string, text?: string, settings: Readonly<Record<string, string>> = {}) {
  const context = contextOf(model, { settings })
  const config = normaliseConfig(await backend.complete(await configOf(model, text), context))
  return { config, lines: context.lines }
}

// The matrix of the reference (ONNX backend §2): model, batch size, dims, dynamic batching.
it.each([
  ['shape_n_4', 4, [4], true],
  ['shape_n_m', 4, [-1], true],
  ['shape_n_unnamed', 4, [-1], true],
  ['shape_4', 0, [4], false],
  ['shape_1_4', 0, [1, 4], false],
  ['shape_n', 4, [1], true],
  ['shape_scalar', 0, [1], false],
  ['shape_unranked', 0, [1], false],
  ['shape_mixed', 0, [-1, 4], false],
])('%s becomes max_batch_size %d with dims %j', async (model, size, dims, dynamic) => {
  const { config } = await completeModel(model)
  expect(config.max_batch_size).toBe(size)
  expect(config.input.find(({ name }) => name === 'IN')).toMatchObject({ data_type: 'TYPE_FP32', dims })
  expect(config.output.find(({ name }) => name === 'OUT')).toMatchObject({ data_type: 'TYPE_FP32', dims })
  expect(config.dynamic_batching?.preferred_batch_size).toEqual(dynamic ? [size] : undefined)
  const reshape = config.input.find(({ name }) => name === 'IN')?.reshape
  expect(reshape).toEqual(model === 'shape_n' ? { shape: [] } : undefined)
  expect(checkConfig(config, { strictIo: true, gpus: [] }).filter(({ severity }) => severity === 'error')).toEqual([])
})

it.each([
  ['echo_string', 'TYPE_STRING'],
  ['echo_bool', 'TYPE_BOOL'],
  ['echo_float16', 'TYPE_FP16'],
  ['echo_bfloat16', 'TYPE_BF16'],
])('%s is described as %s', async (model, type) => {
  const { config } = await completeModel(model)
  expect(config.input[0]?.data_type).toBe(type)
  expect(config.output[0]?.data_type).toBe(type)
})

it('warns in the words of the original when it chooses a batch size', async () => {
  const { lines } = await completeModel('shape_n_4')
  expect(lines).toEqual([
    "warning autofilled max_batch_size to 4 for model 'shape_n_4' since batching is supporrted but no max_batch_size is specified in model configuration. Must specify max_batch_size to utilize autofill with a larger max batch size",
  ])
})

it('keeps what is written', async () => {
  expect((await completeModel('shape_n_4', 'max_batch_size: 16')).config).toMatchObject({
    max_batch_size: 16,
    dynamic_batching: { preferred_batch_size: [16] },
  })
  const one = await completeModel('shape_n_4', 'max_batch_size: 1')
  expect(one.config.max_batch_size).toBe(1)
  expect(one.config.dynamic_batching).toBeUndefined()
  const sequence = await completeModel('shape_n_4', 'sequence_batching { }')
  expect(sequence.config.max_batch_size).toBe(4)
  expect(sequence.config.dynamic_batching).toBeUndefined()
  expect(sequence.config.sequence_batching).toBeDefined()
  const input = 'input { name: "IN" data_type: TYPE_FP32 dims: [ 4 ] }'
  expect((await completeModel('shape_n_4', input)).config).toMatchObject({
    max_batch_size: 4,
    output: [{ name: 'OUT' }],
  })
})

it('takes the default batch size of the settings', async () => {
  const settings = { 'default-max-batch-size': '128' }
  const text = 'dynamic_batching { preferred_batch_size: [ 2 ] }'
  expect((await completeModel('shape_n_4', text, settings)).config).toMatchObject({
    max_batch_size: 128,
    dynamic_batching: { preferred_batch_size: [2] },
  })
  expect((await completeModel('shape_n_4', '', { 'default-max-batch-size': '-1' })).config.max_batch_size).toBe(0)
})

it('leaves a complete config alone', async () => {
  const text = `input { name: "IN" data_type: TYPE_FP32 dims: [ -1, 4 ] }
                output { name: "OUT" data_type: TYPE_FP32 dims: [ -1, 4 ] }`
  const { config, lines } = await completeModel('shape_n_4', text)
  expect(config.max_batch_size).toBe(0)
  expect(config.dynamic_batching).toBeUndefined()
  expect(lines).toEqual([
    "info skipping model configuration auto-complete for 'shape_n_4': inputs and outputs already specified",
  ])
})

it('refuses a batch size for a model that cannot batch', async () => {
  await expect(completeModel('shape_4', 'max_batch_size: 8')).rejects.toThrow(
    "autofill failed for model 'shape_4': model does not support batching while non-zero max_batch_size is specified",
  )
})
