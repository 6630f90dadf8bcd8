import { BYTE_SIZE, ConchError, countElements, toProtocolDatatype } from '@conch/protocol'
import type { Datatype, InferRequest, ModelConfig, ModelInput, Tensor } from '@conch/protocol'
import { nameRequest } from './request.ts'

const BATCH_NOTE =
  'NOTE: Setting a non-zero max_batch_size in the model config requires a batch dimension to be prepended to each input ' +
  'shape. If you want to specify the full shape including the batch dim in your input dims config, try setting ' +
  'max_batch_size to zero. See the model configuration docs for more info on max_batch_size.'

/** Up to here names are compared in pairs, which is the cheaper way for few. */
const FEW_INPUTS = 16

interface InputRule {
  readonly name: string
  readonly datatype: Datatype | undefined
  readonly dims: readonly number[]
  readonly optional: boolean
  readonly shapeTensor: boolean
}

/** A request that fits its model. */
export interface Fit {
  /** Along the batch dimension, 1 for models that do not batch. */
  readonly rows: number
  /** What its backend would refuse: in the original such a request was accepted, and failed when it ran. */
  readonly flaw: ConchError | undefined
}

/**
 * Checks requests against one version's config, in the original's order and words (front door §6.8). Inputs are looked
 * at from the last to the first, as the original's table does with few of them.
 */
export class RequestValidator {
  readonly #model: string
  readonly #maxBatch: number
  readonly #inputs: ReadonlyMap<string, InputRule>
  readonly #required: number
  readonly #outputs: ReadonlySet<string>

  constructor(config: ModelConfig) {
    this.#model = config.name
    this.#maxBatch = config.max_batch_size
    this.#inputs = new Map(config.input.map((input) => [input.name, readRule(input)]))
    this.#required = config.input.filter((input) => !input.optional).length
    this.#outputs = new Set(config.output.map((output) => output.name))
  }

  /** Throws INVALID_ARG. */
  check(request: InferRequest): Fit {
    for (const { name } of request.outputs) {
      if (!this.#outputs.has(name)) refuse(`unexpected inference output '${name}' for model '${this.#model}'`)
    }
    const { inputs } = request
    this.#checkNames(request, inputs)
    const rows = this.#maxBatch > 0 ? this.#countRows(request, inputs) : 0
    let flaw: ConchError | undefined
    for (let i = inputs.length - 1; i >= 0; i--) {
      const tensor = inputs[i]
      if (tensor !== undefined) flaw = this.#checkTensor(request, tensor, rows) ?? flaw
    }
    return { rows: rows > 0 ? rows : 1, flaw }
  }

  #checkNames(request: InferRequest, inputs: readonly Tensor[]): void {
    let required = 0
    let unknown = false
    const seen = inputs.length > FEW_INPUTS ? new Set<string>() : undefined
    for (let i = 0; i < inputs.length; i++) {
      const name = inputs[i]?.name ?? ''
      const repeated = seen === undefined ? isRepeated(inputs, name, i) : seen.size === seen.add(name).size
      if (repeated) refuse(`${nameRequest(request.id)}input '${name}' already exists in request`)
      const rule = this.#inputs.get(name)
      if (rule === undefined) unknown = true
      else if (!rule.optional) required += 1
    }
    // An unknown name is told by itself, unless the number of inputs is wrong as well.
    const complete = unknown || required === this.#required
    if (!complete || !this.#isCount(inputs.length)) this.#refuseCount(request)
  }

  #isCount(count: number): boolean {
    return count >= this.#required && count <= this.#inputs.size
  }

  #refuseCount(request: InferRequest): never {
    const got = request.inputs.map(({ name }) => `'${name}'`).toReversed()
    const absent = [...this.#inputs.values()].filter(({ name, optional }) => {
      return !optional && !request.inputs.some((tensor) => tensor.name === name)
    })
    // The original drops the opening bracket when nothing is missing.
    const missing = absent.length === 0 ? ']' : `[${absent.map(({ name }) => `'${name}'`).join(',')}]`
    const size = this.#inputs.size
    const count = `got ${got.length} inputs for model '${this.#model}'`
    const range = size === this.#required ? `${size} inputs` : `number of inputs between ${this.#required} and ${size}`
    const detail = `Got input(s) [${got.join(',')}], but missing required input(s) ${missing}`
    refuse(`${nameRequest(request.id)}expected ${range} but ${count}. ${detail}. Please provide all required input(s).`)
  }

  #rule(name: string): InputRule {
    const rule = this.#inputs.get(name)
    return rule ?? refuse(`unexpected inference input '${name}' for model '${this.#model}'`)
  }

  #countRows(request: InferRequest, inputs: readonly Tensor[]): number {
    let rows = 0
    for (let i = inputs.length - 1; i >= 0; i--) {
      const tensor = inputs[i]
      if (tensor === undefined || this.#rule(tensor.name).shapeTensor) continue
      const first = tensor.shape[0]
      if (first === undefined) this.#refuseInput(request, tensor, 'has no shape but model requires batch dimension')
      if (rows === 0) rows = first
      else if (first !== rows) this.#refuseInput(request, tensor, 'batch size does not match other inputs')
    }
    if (rows > this.#maxBatch) {
      const rule = `inference request batch-size must be <= ${this.#maxBatch} for '${this.#model}'`
      refuse(nameRequest(request.id) + rule)
    }
    return rows
  }

  #refuseInput(request: InferRequest, tensor: Tensor, why: string): never {
    refuse(`${nameRequest(request.id)}input '${tensor.name}' ${why} for '${this.#model}'`)
  }

  #checkTensor(request: InferRequest, tensor: Tensor, rows: number): ConchError | undefined {
    const rule = this.#rule(tensor.name)
    if (tensor.datatype !== rule.datatype) {
      const what = `inference input '${tensor.name}' data-type is '${tensor.datatype}'`
      refuse(`${nameRequest(request.id)}${what}, but model '${this.#model}' expects '${rule.datatype ?? 'INVALID'}'`)
    }
    const from = this.#maxBatch > 0 && !rule.shapeTensor ? 1 : 0
    if (!fitsDims(tensor.shape, from, rule.dims)) this.#refuseShape(request, tensor, rule)
    // A batch of zero rows is sized like one item, as the original does.
    const elements = rows === 0 && from === 1 ? countElements(tensor.shape.slice(1)) : countElements(tensor.shape)
    if (tensor.datatype === 'BYTES') return this.#checkStrings(request, tensor, elements)
    if (tensor.data.byteLength !== elements * BYTE_SIZE[tensor.datatype]) {
      const size = `Expected ${elements * BYTE_SIZE[tensor.datatype]}, got ${tensor.data.byteLength}`
      const what = `input byte size mismatch for input '${tensor.name}' for model '${this.#model}'`
      refuse(`${nameRequest(request.id)}${what}. ${size}`)
    }
    return undefined
  }

  #refuseShape(request: InferRequest, tensor: Tensor, rule: InputRule): never {
    const batches = this.#maxBatch > 0
    const expected = batches ? [-1, ...rule.dims] : rule.dims
    const what = `unexpected shape for input '${tensor.name}' for model '${this.#model}'`
    const shapes = `Expected [${expected.join(',')}], got [${tensor.shape.join(',')}]`
    refuse(`${nameRequest(request.id)}${what}. ${shapes}. ${batches ? BATCH_NOTE : ''}`)
  }

  /** Returns the flaw of a last string that is longer than what is there. */
  #checkStrings(request: InferRequest, tensor: Tensor, elements: number): ConchError | undefined {
    const { data } = tensor
    const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
    const about = `inference input '${tensor.name}' for model '${this.#model}'`
    let found = 0
    let at = 0
    let flaw: ConchError | undefined
    while (at < data.byteLength) {
      const left = data.byteLength - at
      if (left < 4) {
        const hint = 'Please make sure the string length indicator is in one buffer.'
        const text = `incomplete string length indicator for ${about}, expecting 4 bytes but only ${left} bytes available`
        refuse(`${nameRequest(request.id)}${text}. ${hint}`)
      }
      found += 1
      if (found > elements) {
        refuse(
          `${nameRequest(request.id)}unexpected number of string elements ${found} for ${about}, expecting ${elements}`,
        )
      }
      const length = view.getUint32(at, true)
      if (length > left - 4) flaw = describeOverrun(tensor.name, length, left - 4)
      at += 4 + length
    }
    if (found !== elements) {
      refuse(`${nameRequest(request.id)}expected ${elements} string elements for ${about}, got ${found}`)
    }
    return flaw
  }
}

function isRepeated(inputs: readonly Tensor[], name: string, end: number): boolean {
  for (let i = 0; i < end; i++) if (inputs[i]?.name === name) return true
  return false
}

function readRule(input: ModelInput): InputRule {
  return {
    name: input.name,
    datatype: toProtocolDatatype(input.data_type),
    dims: input.dims,
    optional: input.optional,
    shapeTensor: input.is_shape_tensor,
  }
}

function fitsDims(shape: readonly number[], from: number, dims: readonly number[]): boolean {
  if (shape.length - from !== dims.length) return false
  for (let i = 0; i < dims.length; i++) {
    const dim = dims[i]
    if (dim !== -1 && dim !== shape[i + from]) return false
  }
  return true
}

function describeOverrun(name: string, length: number, left: number): ConchError {
  const what = `incomplete string data for inference input '${name}'`
  return new ConchError('INVALID_ARG', `${what}, expecting string of length ${length} but only ${left} bytes available`)
}

function refuse(message: string): never {
  throw new ConchError('INVALID_ARG', message)
}
