import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { completeOnnxConfig, type OnnxSignature } from '@conch/engine'
import {
  completeBackend,
  ConchError,
  createConfigPart,
  parsePbtxt,
  printPbtxt,
  type ModelConfig,
} from '@conch/protocol'
import { namesOfNewest } from '../model-files.ts'

interface Draft {
  /** Staged model folder. */
  readonly model: string
  readonly name: string
  readonly paths: readonly string[]
  readonly onnx: OnnxSignature | null
}
type Print = (part: Partial<ModelConfig>) => string

/** The config.pbtxt that came with the upload, else one with a word on every choice. */
export async function proposeConfig({ model, name, paths, onnx }: Draft): Promise<string> {
  if (paths.includes('config.pbtxt')) return readFile(join(model, 'config.pbtxt'), 'utf8')
  const blank = parsePbtxt('').config
  const print: Print = (part) => printPbtxt({ ...blank, ...part })
  const versionFiles = namesOfNewest(paths)
  const { backend } = chooseBackend(blank, name, versionFiles)
  const file = versionFiles.find((entry) => entry.endsWith('.onnx'))
  const named =
    backend === 'onnxruntime' && file !== undefined && file !== 'model.onnx' ? { default_model_filename: file } : {}
  const parts = [
    `# ${name}: proposed from what its files say. Every line may be changed.\n${print({ backend, ...named })}`,
    ...(onnx === null ? [] : describeTensors({ ...blank, name, backend }, onnx, print)),
    `# How many copies run at the same time: more for throughput, each with its own working memory.\n${print({ instance_group: [ONE] })}`,
  ]
  return parts.join('\n')
}

function chooseBackend(
  blank: ModelConfig,
  directoryName: string,
  versionFiles: readonly string[],
): { backend: string } {
  const { backend } = completeBackend(blank, { directoryName, versionFiles })
  return { backend: backend === '' && versionFiles.some((file) => file.endsWith('.onnx')) ? 'onnxruntime' : backend }
}

/** Parts as they are before anything is written into them. */
const BATCHING = createConfigPart('ModelDynamicBatching')
const ONE = { ...createConfigPart('ModelInstanceGroup'), kind: 'KIND_CPU', count: 1 } as const

/** What a load would fill in by itself, written down where it can be changed. */
function describeTensors(config: ModelConfig, onnx: OnnxSignature, print: Print): readonly string[] {
  let made: ModelConfig
  try {
    made = completeOnnxConfig(config, onnx, { settings: {}, log: () => undefined })
  } catch (error) {
    if (!(error instanceof ConchError)) throw error
    return [`# The tensors could not be described: ${error.message.replaceAll(/\s+/g, ' ')}\n`]
  }
  const { input, output, max_batch_size, dynamic_batching } = made
  const batching =
    max_batch_size > 0
      ? [
          `# The first dimension of every tensor is free: requests are joined into batches of up to this many rows.\n# The dims below leave that dimension out.\n${print({ max_batch_size })}`,
          `# Requests that wait run together; add max_queue_delay_microseconds to let them wait for company.\n${print({ dynamic_batching: dynamic_batching ?? BATCHING })}`,
        ]
      : [
          `# Not every tensor has a free first dimension, so requests run one by one and dims are complete.\nmax_batch_size: 0\n`,
        ]
  return [...batching, `# -1 = any size.\n${print({ input })}`, print({ output })]
}
