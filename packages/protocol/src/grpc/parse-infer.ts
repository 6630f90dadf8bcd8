import { isDatatype, type Datatype } from '../datatype.ts'
import { ConchError } from '../status.ts'
import { checkCorrelationId, NO_PARAMETERS } from '../v2/parse-parameters.ts'
import { createRequest } from '../v2/parse-request.ts'
import type { InferRequest, ParameterValue, RegionRange, RequestedOutput, RequestInput } from '../v2/request.ts'
import type { Choice, InferMessage, InputMessage, OutputMessage } from './infer-message.ts'
import { readContents } from './typed-contents.ts'

const EMPTY = new Uint8Array(0)

/** A judged request and what only a stream asks. */
export interface ParsedInfer {
  readonly request: InferRequest
  /** A decoupled model's last flag is to be sent as a response of its own. */
  readonly emptyFinal: boolean
}

/** Judges a request as the original does (reference: gRPC §4). Tensors are views on the message. */
export function parseInferMessage(message: InferMessage): ParsedInfer {
  const request = createRequest(message)
  request.id = message.id
  request.binaryOutputs = true
  const emptyFinal = message.parameters !== undefined && readParameters(message.parameters, request)
  checkNames(message, request)
  request.inputs = readInputs(message)
  if (message.outputs.length > 0) request.outputs = message.outputs.map(readOutput)
  return { request, emptyFinal }
}

function checkNames({ inputs, outputs }: InferMessage, { id }: InferRequest): void {
  if (inputs.length > 1) checkTwice(inputs, 'input', `[request id: ${id || '<id_unknown>'}] `)
  if (outputs.length > 1) checkTwice(outputs, 'output', '')
}

function checkTwice(list: readonly { readonly name: string }[], what: string, prefix: string): void {
  const names = new Set<string>()
  for (const { name } of list) {
    if (names.size !== names.add(name).size) continue
    throw new ConchError('INVALID_ARG', `${prefix}${what} '${name}' already exists in request`)
  }
}

/** Fills in the request's own fields; returns whether an empty final response is asked for. */
function readParameters(parameters: ReadonlyMap<string, Choice>, request: InferRequest): boolean {
  let custom: Record<string, ParameterValue> | undefined
  let emptyFinal = false
  for (const [key, choice] of parameters) {
    if (readKnown(key, choice, request)) continue
    if (key === EMPTY_FINAL) emptyFinal = expectKind(key, choice, 'bool')
    else {
      custom ??= Object.create(null) as Record<string, ParameterValue>
      custom[key] = readCustom(key, choice)
    }
  }
  request.parameters = custom ?? NO_PARAMETERS
  return emptyFinal
}

const EMPTY_FINAL = 'triton_enable_empty_final_response'

/** Returns false for a key without a place of its own. */
function readKnown(key: string, choice: Choice, request: InferRequest): boolean {
  switch (key) {
    case 'sequence_id':
      request.sequenceId = readSequenceId(choice)
      return true
    case 'sequence_start':
      request.sequenceStart = expectKind(key, choice, 'bool')
      return true
    case 'sequence_end':
      request.sequenceEnd = expectKind(key, choice, 'bool')
      return true
    case 'priority':
      request.priority = readPriority(choice)
      return true
    case 'timeout':
      request.timeout = Number(BigInt.asUintN(64, expectKind(key, choice, 'int64')))
      return true
    default:
      return false
  }
}

function readSequenceId(choice: Choice): bigint | string {
  if (choice.kind === 'int64') return BigInt.asUintN(64, choice.value)
  if (choice.kind === 'string') return checkCorrelationId(choice.value)
  return refuseKind('sequence_id', 'int64_param or string_param')
}

function readPriority(choice: Choice): number {
  if (choice.kind === 'uint64') return Number(choice.value)
  if (choice.kind !== 'int64') return refuseKind('priority', 'int64_param or uint64_param')
  if (choice.value < 0n) throw new ConchError('INVALID_ARG', "invalid value for 'priority', expected value >= 0.")
  return Number(choice.value)
}

function readCustom(key: string, choice: Choice): ParameterValue {
  if (key.startsWith('triton_')) {
    throw new ConchError(
      'INVALID_ARG',
      `parameter keys starting with 'triton_' are reserved for Triton usage. Only the following keys starting with 'triton_' are allowed: ${EMPTY_FINAL}`,
    )
  }
  if (choice.kind === 'unset' || choice.kind === 'uint64')
    return refuseKind(key, 'int64_param, bool_param, or string_param')
  return choice.value
}

type Kind = 'bool' | 'int64' | 'string'
interface Values {
  readonly bool: boolean
  readonly int64: bigint
  readonly string: string
}

/** The value of a parameter of the request that has one type only. */
function expectKind<K extends Kind>(key: string, choice: Choice, kind: K): Values[K] {
  if (choice.kind === kind) return choice.value as Values[K]
  return refuseKind(key, `${kind}_param`)
}

function refuseKind(key: string, expected: string): never {
  throw new ConchError('INVALID_ARG', `invalid value type for '${key}' parameter, expected ${expected}.`)
}

function refuseTensorKind(key: string, tensor: string, expected: Kind): never {
  const text = `invalid value type for '${key}' parameter for tensor '${tensor}', expected ${expected}_param.`
  throw new ConchError('INVALID_ARG', text)
}

function readInputs(message: InferMessage): RequestInput[] {
  const inputs: RequestInput[] = []
  let next = 0
  for (const input of message.inputs) {
    const { name, shape } = input
    // What is no datatype is told by the model's check, which knows what it expects.
    const datatype = (isDatatype(input.datatype) ? input.datatype : '<invalid>') as Datatype
    const region = input.parameters === undefined ? undefined : readRegion(input.parameters, name)
    if (region !== undefined) {
      if (input.contents !== undefined)
        refuse(input, message, "unexpected 'content' provided when using shared memory for input tensor")
      inputs.push({ name, datatype, shape, data: EMPTY, region })
      continue
    }
    if (input.contents === undefined) {
      const data = message.raw[next]
      if (data === undefined) refuseMissing(name, message.model)
      next += 1
      inputs.push({ name, datatype, shape, data, region: undefined })
      continue
    }
    if (message.raw.length > 0)
      refuse(input, message, 'contents field must not be specified when using raw_input_contents for')
    inputs.push({
      name,
      datatype,
      shape,
      data: readContents(input.contents, { name, datatype }, message.model),
      region: undefined,
    })
  }
  return inputs
}

function refuse({ name }: InputMessage, { model }: InferMessage, text: string): never {
  throw new ConchError('INVALID_ARG', `${text} '${name}' for model '${model}'`)
}

function refuseMissing(name: string, model: string): never {
  throw new ConchError('INVALID_ARG', `unable to find data for input tensor '${name}' for model '${model}' in request.`)
}

function readRegion(parameters: ReadonlyMap<string, Choice>, tensor: string): RegionRange | undefined {
  const region = parameters.get('shared_memory_region')
  const offset = parameters.get('shared_memory_offset')
  const byteSize = parameters.get('shared_memory_byte_size')
  if (region === undefined) {
    const stray =
      offset === undefined ? (byteSize === undefined ? undefined : 'shared_memory_byte_size') : 'shared_memory_offset'
    if (stray === undefined) return undefined
    throw new ConchError(
      'INVALID_ARG',
      `'${stray}' can not be specified without 'shared_memory_region' parameter for tensor '${tensor}'`,
    )
  }
  if (region.kind !== 'string') refuseTensorKind('shared_memory_region', tensor, 'string')
  if (byteSize === undefined) {
    throw new ConchError(
      'INVALID_ARG',
      `'shared_memory_byte_size' must be specified along with 'shared_memory_region' parameter for tensor '${tensor}'`,
    )
  }
  return {
    name: region.value,
    offset: offset === undefined ? 0 : readCount('shared_memory_offset', offset, tensor),
    byteSize: readCount('shared_memory_byte_size', byteSize, tensor),
  }
}

/** The original casts to an unsigned number: a negative one becomes one that no region has. */
function readCount(key: string, choice: Choice, tensor: string): number {
  if (choice.kind !== 'int64') refuseTensorKind(key, tensor, 'int64')
  return Number(BigInt.asUintN(64, choice.value))
}

function readOutput({ name, parameters }: OutputMessage): RequestedOutput {
  if (parameters === undefined) return { name, binary: true, classification: 0, region: undefined }
  const classification = readClassification(parameters.get('classification'))
  const region = readRegion(parameters, name)
  if (region !== undefined && classification > 0) {
    throw new ConchError('INVALID_ARG', "output can't set both 'shared_memory_region' and 'classification'")
  }
  return { name, binary: true, classification, region }
}

function readClassification(choice: Choice | undefined): number {
  if (choice === undefined) return 0
  if (choice.kind !== 'int64') {
    throw new ConchError('INVALID_ARG', "invalid value type for 'classification' parameter, expected int64_param")
  }
  if (choice.value <= 0n)
    throw new ConchError('INVALID_ARG', "invalid value for 'classification' parameter, expected >= 0")
  return Number(choice.value)
}
