import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { closeInstances, configOf, contextOf, openInstance } from '../contract.suite.ts'
import { createOnnxBackend } from './backend.ts'

afterEach(closeInstances)

const backend = createOnnxBackend()
const IN = 'input { name: "IN" data_type: TYPE_FP32 dims: [ 4 ] }'
const OUT = 'output { name: "OUT" data_type: TYPE_FP32 dims: [ 4 ] }'

async function load(model: string, text?: string): Promise<unknown> {
  return openInstance(backend, await configOf(model, text), contextOf(model))
}

const BATCH_NOTE =
  'the model expects 2 dimensions (shape [-1,4]) but the model configuration specifies 3 dimensions (an initial batch dimension because max_batch_size > 0 followed by the explicit tensor shape, making complete shape [-1,-1,4])'

it.each([
  [
    'shape_mixed',
    `${IN} ${OUT}`,
    "unable to load model 'shape_mixed', configuration expects 1 inputs, model provides 2",
  ],
  [
    'shape_n_4',
    `max_batch_size: 4 input { name: "Q" data_type: TYPE_FP32 dims: [ 4 ] } ${OUT}`,
    "unexpected inference input 'Q', allowed inputs are: IN",
  ],
  [
    'shape_mixed',
    `input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1, 4 ] }, { name: "FIXED" data_type: TYPE_FP32 dims: [ 4 ] } ]
     output { name: "Q" data_type: TYPE_FP32 dims: [ 4 ] }`,
    "unexpected inference output 'Q', allowed outputs are: OUT, OUT_FIXED",
  ],
  [
    'shape_n_4',
    `max_batch_size: 4 ${IN.replace('FP32', 'INT32')} ${OUT}`,
    "unable to load model 'shape_n_4', configuration expects datatype TYPE_INT32 for input 'IN', model provides TYPE_FP32",
  ],
  [
    'shape_n_4',
    `max_batch_size: 4 ${IN} ${OUT.replace('FP32', 'INT32')}`,
    "unable to load model 'shape_n_4', configuration expects datatype TYPE_INT32 for output 'OUT', model provides TYPE_FP32",
  ],
  [
    'shape_4',
    `max_batch_size: 4 ${IN} ${OUT}`,
    "model 'shape_4', tensor 'IN': for the model to support batching the shape should have at least 1 dimension and the first dimension must be -1; but shape expected by the model is [4]",
  ],
  [
    'shape_n_4',
    `max_batch_size: 4 ${IN.replace('4', '5')} ${OUT}`,
    "model 'shape_n_4', tensor 'IN': the model expects 2 dimensions (shape [-1,4]) but the model configuration specifies 2 dimensions (an initial batch dimension because max_batch_size > 0 followed by the explicit tensor shape, making complete shape [-1,5])",
  ],
  [
    'shape_4',
    `${IN.replace('4', '5')} ${OUT}`,
    "model 'shape_4', tensor 'IN': the model expects 1 dimensions (shape [4]) but the model configuration specifies 1 dimensions (shape [5])",
  ],
  [
    'shape_n_4',
    `max_batch_size: 4 ${IN.replace('[ 4 ]', '[ -1, 4 ]')} ${OUT}`,
    `model 'shape_n_4', tensor 'IN': ${BATCH_NOTE}`,
  ],
  [
    'shape_n_4',
    `max_batch_size: 4 ${IN.replace('4', '-1')} ${OUT}`,
    "model 'shape_n_4', tensor 'IN': the model expects 2 dimensions (shape [-1,4])",
  ],
  [
    'shape_n_m',
    `max_batch_size: 4 ${IN} ${OUT}`,
    "model 'shape_n_m', tensor 'OUT': the model expects 2 dimensions (shape [-1,-1])",
  ],
  [
    'shape_scalar',
    `${IN.replace('4', '2')} ${OUT}`,
    "unable to load model 'shape_scalar', scalar tensor 'IN', should only provide 1 in the model configuration when the model doesn't support batching. Model configuration provided: [2].",
  ],
  [
    'shape_n_4',
    `max_batch_size: 4 ${IN.replace(' }', ' allow_ragged_batch: true }')} ${OUT}`,
    "unable to load model 'shape_n_4', configuration expects model provides input with shape [-1]  for ragged input 'IN', model provides [-1,4]",
  ],
  [
    'shape_n_4',
    `max_batch_size: 4 ${IN.replace(' }', ' optional: true }')} ${OUT}`,
    "unable to load model 'shape_n_4', configuration expects 0 inputs, model provides 1",
  ],
  [
    'overridable',
    `max_batch_size: 4 input [ { name: "IN" data_type: TYPE_FP32 dims: [ 1 ] reshape { shape: [ ] } },
     { name: "K" data_type: TYPE_FP32 dims: [ 1 ] optional: true } ]
     output { name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] reshape { shape: [ ] } }`,
    "unable to load model 'overridable', optional input 'K' is not supported for models that support batching",
  ],
  [
    'sequence_output',
    `max_batch_size: 4 ${IN} ${OUT}`,
    "Unsupported ONNX Type 'ONNX_TYPE_SEQUENCE' for I/O 'OUT', expected 'ONNX_TYPE_TENSOR'.",
  ],
  [
    'shape_n_4',
    `max_batch_size: 4 ${IN} ${OUT} sequence_batching { control_input { name: "START"
     control { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } } }`,
    "configuration specified sequence control 'START', but model does not provide that input",
  ],
  [
    'stateful',
    `max_batch_size: 4 input { name: "IN" data_type: TYPE_INT32 dims: [ 1 ] }
     output { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] }
     sequence_batching { control_input { name: "START" control { kind: CONTROL_SEQUENCE_START fp32_false_true: [ 0, 1 ] } }
     state { input_name: "STATE_IN" output_name: "STATE_OUT" data_type: TYPE_INT32 dims: [ 1 ] } }`,
    "unable to load model 'stateful', sequence control 'START', the model expects data-type INT32 but the model configuration specifies data-type TYPE_FP32",
  ],
  [
    'shape_4',
    `${IN} ${OUT} parameters { key: "intra_op_thread_count" value { string_value: "abc" } }`,
    "failed to convert 'abc' to integral number",
  ],
])('%s is refused with %s', async (model, text, message) => {
  await expect(load(model, text)).rejects.toThrow(message)
})

it('tells what to do about a batch dimension in dims', async () => {
  await expect(load('shape_n_4', `max_batch_size: 4 ${IN.replace('[ 4 ]', '[ -1, 4 ]')} ${OUT}`)).rejects.toThrow(
    '(model has 2 dims [-1,4]; config describes 3: batch + [-1,4]; fix: remove the leading -1 or set max_batch_size to 0)',
  )
})

it.each([
  ['shape_n_m', `max_batch_size: 4 ${IN} ${OUT.replace('4', '-1')}`],
  ['shape_unranked', `${IN} ${OUT}`],
  ['shape_scalar', `${IN.replace('4', '1')} ${OUT.replace('4', '1')}`],
  [
    'shape_mixed',
    `input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1, 4 ] }, { name: "FIXED" data_type: TYPE_FP32 dims: [ 4 ] } ]
    output { name: "OUT_FIXED" data_type: TYPE_FP32 dims: [ 4 ] }`,
  ],
  [
    'old_format',
    'input { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } output { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] }',
  ],
  ['overridable', undefined],
  ['ragged', undefined],
  ['stateful', undefined],
  ['per_item_scalar', undefined],
  ['external', undefined],
])('%s loads with %s', async (model, text) => {
  expect(await load(model, text)).toBeDefined()
})

it('says what is wrong with a file, without the place on this machine', async () => {
  const modelDirectory = await mkdtemp(join(tmpdir(), 'conch-broken-'))
  const versionDirectory = join(modelDirectory, '1')
  await mkdir(versionDirectory)
  const context = { ...contextOf('add_sub'), modelDirectory, versionDirectory }
  const config = await configOf('add_sub')
  try {
    await expect(openInstance(backend, config, context)).rejects.toThrow('failed to stat file add_sub/1/model.onnx')
    const whole = await readFile(join(contextOf('add_sub').versionDirectory, 'model.onnx'))
    for (const content of [Buffer.from('not a model'), whole.subarray(0, whole.length - 20), Buffer.alloc(0)]) {
      await writeFile(join(versionDirectory, 'model.onnx'), content)
      const failure = await openInstance(backend, config, context).then(
        () => 'loaded',
        (error: Error) => error.message,
      )
      expect(failure).toMatch(/^onnx runtime error \d+: Load model from add_sub\/1\/model\.onnx failed:/)
      expect(failure).not.toContain(tmpdir())
    }
  } finally {
    await rm(modelDirectory, { recursive: true })
  }
})
