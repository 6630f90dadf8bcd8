import { ConchError, createRequest, parseInferRequest } from '@conch/protocol'
import type { InferRequest, JsonValue, ParameterValue, RequestTarget } from '@conch/protocol'
import type { ModelMetadata, TensorMetadata } from '@conch/engine'
import type { JsonObject } from './read-json.ts'
import { isObject } from './read-json.ts'

interface Mapping {
  readonly metadata: ModelMetadata
  readonly target: RequestTarget
  readonly parameters: Record<string, ParameterValue>
  /** Inputs as they stand in an infer request. */
  readonly inputs: string[]
  /** Bytes of input text so far. */
  size: number
}

/**
 * Maps the flat object of a generate call: a member named like an input is its tensor, `parameters` nests the same rule,
 * anything else is a parameter (reference: http §9.2). Tensors go through the reader of infer requests, so that
 * exactness and complaints are the same.
 */
export function mapGenerateRequest(body: JsonObject, metadata: ModelMetadata, target: RequestTarget): InferRequest {
  const mapping: Mapping = {
    metadata,
    target,
    parameters: Object.create(null) as Record<string, ParameterValue>,
    inputs: [],
    size: 0,
  }
  mapMembers(body, mapping)
  const text = `{"inputs":[${mapping.inputs.join(',')}]}`
  const request =
    mapping.inputs.length === 0 ? createRequest(target) : parseInferRequest(Buffer.from(text), undefined, target)
  request.parameters = mapping.parameters
  const { id } = body
  if (typeof id === 'string' && !metadata.inputs.some((input) => input.name === 'id')) request.id = id
  return request
}

function mapMembers(members: JsonObject, mapping: Mapping): void {
  for (const [key, value] of Object.entries(members)) {
    const input = mapping.metadata.inputs.find((candidate) => candidate.name === key)
    if (key === 'parameters') mapNested(value, input, mapping)
    else if (input !== undefined) addInput(input, value, mapping)
    else mapping.parameters[key] = readParameter(key, value)
  }
}

function mapNested(value: JsonValue, input: TensorMetadata | undefined, mapping: Mapping): void {
  if (input !== undefined) {
    throw new ConchError('INVALID_ARG', "Keyword 'parameters' for nested schema also given as input tensor name")
  }
  if (!isObject(value)) {
    throw new ConchError(
      'INTERNAL',
      "Expected JSON object for keyword: 'parameters': attempt to access JSON non-object as object",
    )
  }
  try {
    mapMembers(value, mapping)
  } catch (error) {
    if (error instanceof ConchError)
      throw new ConchError(error.code, `Converting keyword: 'parameters': ${error.message}`, { cause: error })
    throw error
  }
}

function readParameter(key: string, value: JsonValue): ParameterValue {
  if (typeof value === 'object') {
    throw new ConchError(
      'INVALID_ARG',
      `parameter '${key}' has invalid type. It should be either 'int', 'bool', or 'string'.`,
    )
  }
  return value
}

function addInput(input: TensorMetadata, value: JsonValue, mapping: Mapping): void {
  const elements = Array.isArray(value) ? (value as readonly JsonValue[]) : [value]
  const shape = elements.length === 0 ? [0] : deduceShape(input, elements.length)
  const data = formatValue(elements)
  mapping.size += data.length
  const limit = mapping.target.maxInputSize
  if (mapping.size > limit) {
    throw new ConchError(
      'INVALID_ARG',
      `request size of ${mapping.size} bytes with input '${input.name}' of size ${data.length} bytes exceeds the maximum allowed input size of ${limit}. Use --http-max-input-size to increase the limit.`,
    )
  }
  const { name, datatype } = input
  mapping.inputs.push(
    `{"name":${JSON.stringify(name)},"datatype":"${datatype}","shape":[${shape.join(',')}],"data":${data}}`,
  )
}

/** Fixed dimensions take their share from the innermost on; the innermost free one takes the rest, other free ones are 1. */
function deduceShape(input: TensorMetadata, count: number): number[] {
  const fail = () =>
    new ConchError('INVALID_ARG', `The schema can not convert input '${input.name}' to tensor with proper shape`)
  let left = count
  for (const dim of input.shape) {
    if (dim < 0) continue
    if (dim === 0 || left % dim !== 0) throw fail()
    left /= dim
  }
  const innermost = input.shape.lastIndexOf(-1)
  if (innermost < 0 && left !== 1) throw fail()
  return input.shape.map((dim, i) => (dim >= 0 ? dim : i === innermost ? left : 1))
}

/** JSON text of a value, integers exact and non-finite numbers as the words the reader knows. */
export function formatValue(value: JsonValue): string {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'number') return Object.is(value, -0) ? '-0.0' : String(value)
  if (Array.isArray(value)) return `[${(value as readonly JsonValue[]).map(formatValue).join(',')}]`
  if (isObject(value))
    return `{${Object.entries(value)
      .map(([key, item]) => `${JSON.stringify(key)}:${formatValue(item)}`)
      .join(',')}}`
  return JSON.stringify(value)
}
