import { cp } from 'node:fs/promises'
import path from 'node:path'
import { FIXTURE_MODELS } from '@conch/engine/testing'
import { makeOnnx } from '../admin/onnx-file.ts'
import { putFiles } from '../admin/stand.ts'

/** The models of the soak, one for each way of being scheduled, and how many clients each has: 32. */
export const CLIENTS = { direct: 6, dynamic: 6, sequence: 6, ensemble: 6, cached: 4, limited: 4 } as const
export type Model = keyof typeof CLIENTS

const TENSORS = `input { name: "x" data_type: TYPE_FP32 dims: [ 4 ] } output { name: "scores" data_type: TYPE_FP32 dims: [ 4 ] }`
const config = (more: string) => `backend: "onnxruntime" max_batch_size: 8 ${TENSORS} ${more}`
const step = (model: string, from: string, to: string) =>
  `step { model_name: "${model}" model_version: -1 input_map { key: "x" value: "${from}" } output_map { key: "scores" value: "${to}" } }`

export async function writeModels(directory: string): Promise<void> {
  await putFiles(directory, {
    'direct/config.pbtxt': config(''),
    'direct/1/model.onnx': makeOnnx('Neg'),
    'dynamic/config.pbtxt': config('dynamic_batching { max_queue_delay_microseconds: 2000 }'),
    'dynamic/1/model.onnx': makeOnnx('Abs'),
    'ensemble/config.pbtxt': `platform: "ensemble" max_batch_size: 8 ${TENSORS}
      ensemble_scheduling { ${step('direct', 'x', 'between')} ${step('dynamic', 'between', 'scores')} }`,
    'ensemble/1/README': 'an ensemble has no files of its own',
    'cached/config.pbtxt': config('response_cache { enable: true }'),
    'cached/1/model.onnx': makeOnnx('Neg'),
    'limited/config.pbtxt': config(
      'instance_group { kind: KIND_CPU count: 2 rate_limiter { resources { name: "one" count: 1 } } } dynamic_batching { }',
    ),
    'limited/1/model.onnx': makeOnnx('Abs'),
  })
  await cp(path.join(FIXTURE_MODELS, 'stateful'), path.join(directory, 'sequence'), { recursive: true })
}

/** What each model makes of a number. */
export const ANSWERS: Readonly<Record<Exclude<Model, 'sequence'>, (x: number) => number>> = {
  direct: (x) => -x,
  dynamic: Math.abs,
  ensemble: Math.abs,
  cached: (x) => -x,
  limited: Math.abs,
}
