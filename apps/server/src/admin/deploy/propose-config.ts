import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  completeBackend,
  isDatatype,
  parsePbtxt,
  printPbtxt,
  toConfigDatatype,
  type ModelConfig,
} from '@conch/protocol'
import { namesOfNewest } from '../model-files.ts'
import type { Signature, SignatureTensor } from './deploy.schema.ts'

interface Draft {
  /** Staged model folder. */
  readonly model: string
  readonly name: string
  readonly paths: readonly string[]
  readonly signature: Signature | null
}

/** The batch size that the original assumes for models whose first dimension is free. */
const BATCH = 4

/** The config.pbtxt that came with the upload, else one with a word on every choice. */
export async function proposeConfig({ model, name, paths, signature }: Draft): Promise<string> {
  if (paths.includes('config.pbtxt')) return readFile(join(model, 'config.pbtxt'), 'utf8')
  const blank = parsePbtxt('').config
  const versionFiles = namesOfNewest(paths)
  const { backend } = completeBackend(blank, { directoryName: name, versionFiles })
  const print = (part: Partial<ModelConfig>) => printPbtxt({ ...blank, ...part })
  const lines = [`# ${name}: proposed from what its files say. Every line may be changed.`, print({ backend })]
  const file = versionFiles.find((entry) => entry.endsWith('.onnx'))
  if (backend === '' && file !== undefined) lines.push(print({ backend: 'onnxruntime', default_model_filename: file }))
  if (signature !== null) lines.push(...describeTensors(signature, print))
  lines.push('# How many copies run at the same time: more for throughput, each with its own working memory.')
  lines.push(print({ instance_group: [{ ...GROUP, count: 1, kind: 'KIND_CPU' }] }))
  return lines
    .filter((line) => line !== '')
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
}

const GROUP: ModelConfig['instance_group'][number] = {
  name: '',
  kind: 'KIND_AUTO',
  count: 0,
  gpus: [],
  secondary_devices: [],
  profile: [],
  passive: false,
  host_policy: '',
}

function describeTensors(
  { inputs, outputs }: Signature,
  print: (part: Partial<ModelConfig>) => string,
): readonly string[] {
  const batched = [...inputs, ...outputs].every(({ shape }) => shape[0] === -1)
  // A config must name a dimension; one value a row is [ 1 ], reshaped to none. Scalars without a batch stay [ 1 ].
  const shapeOf = ({ shape }: SignatureTensor) => {
    const dims = batched ? shape.slice(1) : [...shape]
    if (dims.length > 0) return { dims }
    return batched ? { dims: [1], reshape: { shape: [] } } : { dims: [1] }
  }
  const typeOf = ({ datatype }: SignatureTensor) => (isDatatype(datatype) ? toConfigDatatype(datatype) : 'TYPE_INVALID')
  const lines = batched
    ? [
        '# The first dimension of every tensor is free, so requests can be joined into batches of up to this many rows.',
        '# The dims below leave that dimension out.',
        print({ max_batch_size: BATCH }),
        '# Waiting requests run together when an instance is free; add max_queue_delay_microseconds to wait for company.',
        'dynamic_batching {\n}\n',
      ]
    : [
        '# Shapes are fixed or differ in their first dimension: no batching, dims are complete.',
        print({ max_batch_size: 0 }),
      ]
  const input = inputs.map((tensor) => ({
    name: tensor.name,
    data_type: typeOf(tensor),
    format: 'FORMAT_NONE' as const,
    ...shapeOf(tensor),
    is_shape_tensor: false,
    allow_ragged_batch: false,
    optional: false,
    is_non_linear_format_io: false,
  }))
  const output = outputs.map((tensor) => ({
    name: tensor.name,
    data_type: typeOf(tensor),
    ...shapeOf(tensor),
    label_filename: '',
    is_shape_tensor: false,
    is_non_linear_format_io: false,
  }))
  return [...lines, '# -1 = any size.', print({ input }), print({ output })]
}
