import { ConchError, toConfigDatatype, toProtocolDatatype } from '@conch/protocol'
import type { ConfigDatatype, ModelConfig, ModelInput, ModelOutput, SequenceState } from '@conch/protocol'
import { checkControls, listControlNames } from './check-controls.ts'
import type { ModelValue, Signature } from './signature.ts'

/** Throws the first contradiction between config and model, in the original's words and order (ONNX backend §3). */
export function checkModel(config: ModelConfig, signature: Signature): void {
  checkControls(config, signature)
  checkCount(config, signature)
  const inputs = new Map([...signature.inputs, ...signature.overridable].map((value) => [value.name, value]))
  const optional = new Set(signature.overridable.map(({ name }) => name))
  for (const input of config.input) checkInput(config, input, { values: inputs, optional })
  for (const { target_name, data_type } of config.batch_input) {
    for (const name of target_name) checkGenerated(config, { name, data_type }, inputs)
  }
  const outputs = new Map(signature.outputs.map((value) => [value.name, value]))
  for (const state of config.sequence_batching?.state ?? []) checkState(config, state, { inputs, outputs })
  const scattered = new Set(config.batch_output.flatMap(({ target_name }) => target_name))
  for (const output of config.output) checkOutput(config, output, { values: outputs, scattered })
}

/** The element type as a config writes it. */
function nameConfigType({ datatype }: ModelValue): ConfigDatatype {
  return datatype === undefined ? 'TYPE_INVALID' : toConfigDatatype(datatype)
}

function checkCount(config: ModelConfig, { inputs, overridable }: Signature): void {
  const given = [
    ...config.input.filter(({ optional }) => !optional).map(({ name }) => name),
    ...config.batch_input.flatMap(({ target_name }) => target_name),
    ...listControlNames(config),
    ...(config.sequence_batching?.state ?? []).map(({ input_name }) => input_name),
  ]
  const extra = given.filter((name) => overridable.some((value) => value.name === name))
  if (given.length === inputs.length + extra.length) return
  const text = `configuration expects ${given.length} inputs, model provides ${inputs.length}`
  const names = inputs.map(({ name }) => name)
  const missing = names.filter((name) => !given.includes(name))
  const unknown = given.filter((name) => !names.includes(name))
  const facts = [
    missing.length > 0 ? `not in the configuration: ${missing.join(', ')}` : '',
    unknown.length > 0 ? `not in the model: ${unknown.join(', ')}` : '',
  ].filter((fact) => fact !== '')
  const tail = facts.length === 0 ? '' : ` (${facts.join('; ')})`
  refuse(`unable to load model '${config.name}', ${text}${tail}`)
}

interface InputFacts {
  readonly values: ReadonlyMap<string, ModelValue>
  readonly optional: ReadonlySet<string>
}

function checkInput(config: ModelConfig, input: ModelInput, { values, optional }: InputFacts): void {
  const value = findValue(input.name, values, 'input')
  checkType(config, { what: 'input', name: input.name, type: input.data_type }, value)
  const { name } = config
  if (input.optional && optional.has(input.name)) {
    if (input.allow_ragged_batch) {
      refuse(
        `unable to load model '${name}', configuration expects model provides input with shape [-1]  ` +
          `for ragged input '${input.name}', which is not supported for optional input`,
      )
    }
    if (config.max_batch_size > 0) {
      const rule = 'is not supported for models that support batching'
      refuse(`unable to load model '${name}', optional input '${input.name}' ${rule}`)
    }
  }
  if (input.allow_ragged_batch) checkRagged(config, input, value)
  else checkDims(config, input, { value, exact: false })
}

function checkGenerated(
  config: ModelConfig,
  target: { readonly name: string; readonly data_type: ConfigDatatype },
  values: ReadonlyMap<string, ModelValue>,
): void {
  const value = findValue(target.name, values, 'input')
  checkType(config, { what: 'input', name: target.name, type: target.data_type }, value)
}

/** The original notices with the first request. */
function checkState(
  config: ModelConfig,
  { input_name, output_name, data_type: type }: SequenceState,
  values: { readonly inputs: ReadonlyMap<string, ModelValue>; readonly outputs: ReadonlyMap<string, ModelValue> },
): void {
  const input = findValue(input_name, values.inputs, 'input')
  const output = findValue(output_name, values.outputs, 'output')
  checkType(config, { what: 'input', name: input_name, type }, input)
  checkType(config, { what: 'output', name: output_name, type }, output)
}

interface OutputFacts {
  readonly values: ReadonlyMap<string, ModelValue>
  /** Targets of batch_output: the model gives them flat. */
  readonly scattered: ReadonlySet<string>
}

function checkOutput(config: ModelConfig, output: ModelOutput, { values, scattered }: OutputFacts): void {
  const value = findValue(output.name, values, 'output')
  checkType(config, { what: 'output', name: output.name, type: output.data_type }, value)
  if (!scattered.has(output.name)) checkDims(config, output, { value, exact: true })
}

function findValue(name: string, values: ReadonlyMap<string, ModelValue>, what: 'input' | 'output'): ModelValue {
  const value = values.get(name)
  if (value !== undefined) return value
  const allowed = [...values.keys()].toSorted().join(', ')
  return refuse(`unexpected inference ${what} '${name}', allowed ${what}s are: ${allowed}`)
}

interface Named {
  readonly what: 'input' | 'output'
  readonly name: string
  readonly type: ConfigDatatype
}

function checkType(config: ModelConfig, { what, name, type }: Named, value: ModelValue): void {
  if (value.kind !== 'TENSOR') {
    refuse(`Unsupported ONNX Type 'ONNX_TYPE_${value.kind}' for I/O '${name}', expected 'ONNX_TYPE_TENSOR'.`)
  }
  if (toProtocolDatatype(type) === undefined) {
    throw new ConchError('INTERNAL', `unsupported datatype ${type} for ${what} '${name}' for model '${config.name}'`)
  }
  const own = nameConfigType(value)
  if (own === type) return
  const text = `configuration expects datatype ${type} for ${what} '${name}', model provides ${own}`
  refuse(`unable to load model '${config.name}', ${text}`)
}

function checkRagged(config: ModelConfig, { name }: ModelInput, { dims }: ModelValue): void {
  if (dims === undefined || (dims.length === 1 && dims[0] === -1)) return
  // Two spaces, as the original has them.
  const text = `configuration expects model provides input with shape [-1]  for ragged input '${name}'`
  refuse(`unable to load model '${config.name}', ${text}, model provides [${dims.join(',')}]`)
}

type Dimensioned = Pick<ModelInput, 'name' | 'dims' | 'reshape'>

function checkDims(
  config: ModelConfig,
  tensor: Dimensioned,
  { value, exact }: { readonly value: ModelValue; readonly exact: boolean },
): void {
  const model = value.dims
  // A model that does not tell the rank takes any.
  if (model === undefined) return
  const batches = config.max_batch_size > 0
  if (batches && model[0] !== -1) refuseUnbatched(config, tensor, model)
  if (model.length === 0) {
    checkScalar(config, tensor)
    return
  }
  const own = tensor.reshape?.shape ?? tensor.dims
  const full = batches ? [-1, ...own] : own
  const fits = (dim: number, index: number) => full[index] === dim || (!exact && dim === -1)
  if (model.length === full.length && model.every(fits)) return
  const about = `model '${config.name}', tensor '${tensor.name}': the model expects ${describeDims(model)}`
  const complete = `making complete shape ${print(full)}`
  const written = batches
    ? `${full.length} dimensions (an initial batch dimension because max_batch_size > 0 followed by the explicit tensor shape, ${complete})`
    : describeDims(full)
  refuse(`${about} but the model configuration specifies ${written}${suggestDims(own, model, batches)}`)
}

function refuseUnbatched(config: ModelConfig, { name }: Dimensioned, model: readonly number[]): never {
  const rule =
    'for the model to support batching the shape should have at least 1 dimension and the first dimension must be -1'
  const text = `model '${config.name}', tensor '${name}': ${rule}; but shape expected by the model is ${print(model)}`
  return refuse(`${text} (fix: set max_batch_size to 0 and write all dims of the model)`)
}

function checkScalar(config: ModelConfig, { name, dims }: Dimensioned): void {
  if (dims.every((dim) => dim === 1)) return
  const rule = "should only provide 1 in the model configuration when the model doesn't support batching"
  const text = `scalar tensor '${name}', ${rule}. Model configuration provided: ${print(dims)}.`
  refuse(`unable to load model '${config.name}', ${text}`)
}

/** What to write instead: most often the batch dimension is there once too many or too few. */
function suggestDims(own: readonly number[], model: readonly number[], batches: boolean): string {
  const right = batches ? model.slice(1) : model
  if (batches && own.join(',') === model.join(',')) {
    const facts = `model has ${model.length} dims ${print(model)}; config describes ${own.length + 1}: batch + ${print(own)}`
    return ` (${facts}; fix: remove the leading -1 or set max_batch_size to 0)`
  }
  if (right.length === 0) return ' (fix: dims: [ 1 ] reshape: { shape: [ ] })'
  return ` (fix: dims: [ ${right.join(', ')} ])`
}

function describeDims(dims: readonly number[]): string {
  return `${dims.length} dimensions (shape ${print(dims)})`
}

function print(dims: readonly number[]): string {
  return `[${dims.join(',')}]`
}

function refuse(text: string): never {
  throw new ConchError('INVALID_ARG', text)
}
