import type { ModelConfig, ModelInput } from '../config/schema.ts'
import { BYTE_SIZE, type Datatype } from '../datatype.ts'
import { ConchError } from '../status.ts'
import { createRequest } from './parse-request.ts'
import type { InferRequest, RequestTarget } from './request.ts'

type RawConfig = Pick<ModelConfig, 'max_batch_size' | 'input'>

/**
 * A body without any JSON: the one input of the model, its shape worked out from the config and the size (reference:
 * front door §6.7). Its outputs are delivered as binary.
 */
export function parseRawRequest(body: Uint8Array, target: RequestTarget, config: RawConfig): InferRequest {
  const [input] = config.input
  if (input === undefined || config.input.length > 1) {
    throw new ConchError(
      'INVALID_ARG',
      `[request id: <id_unknown>] Raw request must only have 1 input (found 1) to be deduced but got ${config.input.length} inputs in '${target.model}' model configuration`,
    )
  }
  if (body.length > target.maxInputSize) {
    throw new ConchError(
      'INVALID_ARG',
      `Raw input has a byte_size (${body.length} bytes) that exceeds the maximum allowed value of ${target.maxInputSize} bytes. Use --http-max-input-size to increase the limit.`,
    )
  }
  const datatype = toDatatype(input)
  const dims = config.max_batch_size > 0 ? [1, ...input.dims] : [...input.dims]
  const request = createRequest(target)
  const tensor =
    datatype === 'BYTES'
      ? { shape: deduceStringShape(input, dims), data: withLength(body) }
      : { shape: deduceShape({ input, dims }, body.length / BYTE_SIZE[datatype]), data: body }
  request.inputs = [{ name: input.name, datatype, ...tensor, region: undefined }]
  request.binaryOutputs = true
  return request
}

function toDatatype(input: ModelInput): Datatype {
  return input.data_type === 'TYPE_STRING' ? 'BYTES' : (input.data_type.slice('TYPE_'.length) as Datatype)
}

function deduceShape(place: { input: ModelInput; dims: number[] }, elements: number): number[] {
  const { input, dims } = place
  const variable = dims.filter((dim) => dim < 0).length
  if (variable > 1) {
    throw new ConchError(
      'INVALID_ARG',
      `The shape of the raw input '${input.name}' can not be deduced because there are more than one variable-sized dimension`,
    )
  }
  let fixed = 1
  for (const dim of dims) if (dim >= 0) fixed *= dim
  // A remainder is left for the engine, which compares the size with the shape.
  return dims.map((dim) => (dim < 0 ? Math.floor(elements / Math.max(fixed, 1)) : dim))
}

function deduceStringShape(input: ModelInput, dims: number[]): number[] {
  if (dims.every((dim) => dim === 1)) return dims
  throw new ConchError(
    'INVALID_ARG',
    `For BYTE datatype raw input '${input.name}', the model must have input shape [1]`,
  )
}

function withLength(body: Uint8Array): Uint8Array {
  const data = new Uint8Array(body.length + 4)
  new DataView(data.buffer).setUint32(0, body.length, true)
  data.set(body, 4)
  return data
}
