import { ConchError, createConfigPart, toConfigDatatype } from '@conch/protocol'
import type { ModelConfig, ModelInput, ModelOutput } from '@conch/protocol'
import type { BackendContext } from '../contract.ts'
import { readInteger } from './parameter.ts'
import type { ModelValue, Signature } from './signature.ts'

type Log = BackendContext['log']

/** Whether the config already says enough, so that the model need not be asked. */
export function isComplete(config: ModelConfig, log: Log): boolean {
  const complete = config.input.length + config.batch_input.length > 0 && config.output.length > 0
  if (complete) {
    const text = `skipping model configuration auto-complete for '${config.name}': inputs and outputs already specified`
    log('info', text)
  }
  return complete
}

/** Fills in what the model knows about itself (ONNX backend §2). Throws INVALID_ARG when config and model contradict. */
export function completeConfig(
  config: ModelConfig,
  signature: Signature,
  facts: { readonly settings: Readonly<Record<string, string>>; readonly log: Log },
): ModelConfig {
  const made = structuredClone(config)
  const values = [...signature.inputs, ...signature.outputs]
  // An unknown rank is no rank: it does not start with a variable dimension.
  const batchable = values.length > 0 && values.every(({ dims }) => dims?.[0] === -1)
  if (batchable) completeBatching(made, facts)
  else if (made.max_batch_size > 0) refuseBatching(config, values)
  const skip = made.max_batch_size > 0 ? 1 : 0
  if (made.input.length === 0) made.input = signature.inputs.map((value) => describeInput(value, skip))
  if (made.output.length === 0) made.output = signature.outputs.map((value) => describeOutput(value, skip))
  return made
}

function completeBatching(
  config: ModelConfig,
  { settings, log }: { readonly settings: Readonly<Record<string, string>>; readonly log: Log },
): void {
  if (config.max_batch_size === 0) {
    config.max_batch_size = Math.max(0, readInteger(settings['default-max-batch-size'] ?? '4'))
    const size = config.max_batch_size
    const why = 'since batching is supporrted but no max_batch_size is specified in model configuration'
    const fix = 'Must specify max_batch_size to utilize autofill with a larger max batch size'
    log('warning', `autofilled max_batch_size to ${size} for model '${config.name}' ${why}. ${fix}`)
  }
  const isScheduled = config.sequence_batching !== undefined || config.dynamic_batching !== undefined
  if (config.max_batch_size <= 1 || isScheduled) return
  config.dynamic_batching = createConfigPart('ModelDynamicBatching')
}

function refuseBatching(config: ModelConfig, values: readonly ModelValue[]): never {
  const rule = 'model does not support batching while non-zero max_batch_size is specified'
  const fixed = values.find(({ dims }) => dims?.[0] !== -1)
  const shape = fixed?.dims === undefined ? 'no declared shape' : `shape [${fixed.dims.join(',')}]`
  const facts = fixed === undefined ? '' : ` (tensor '${fixed.name}' has ${shape}; fix: set max_batch_size to 0)`
  throw new ConchError('INVALID_ARG', `autofill failed for model '${config.name}': ${rule}${facts}`)
}

function describeInput(value: ModelValue, skip: number): ModelInput {
  return { ...createConfigPart('ModelInput'), ...describe(value, skip) }
}

function describeOutput(value: ModelValue, skip: number): ModelOutput {
  return { ...createConfigPart('ModelOutput'), ...describe(value, skip) }
}

/** A tensor without dimensions cannot be written in a config: it is [1], reshaped where the batch comes in front. */
function describe(
  { name, datatype, dims = [] }: ModelValue,
  skip: number,
): Pick<ModelInput, 'name' | 'data_type' | 'dims' | 'reshape'> {
  const data_type = datatype === undefined ? 'TYPE_INVALID' : toConfigDatatype(datatype)
  const item = dims.slice(skip)
  if (item.length > 0) return { name, data_type, dims: item }
  return { name, data_type, dims: [1], reshape: skip > 0 ? { shape: [] } : undefined }
}
