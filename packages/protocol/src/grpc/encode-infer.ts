import type { Tensor } from '../tensor.ts'
import type { InferRequest, Parameters, ParameterValue } from '../v2/request.ts'
import { collectParameters, regionParameters } from '../v2/request-parameters.ts'
import type { InferResponse } from '../v2/response.ts'
import { ProtoWriter } from './writer.ts'

const BYTES = 2

/** A message in pieces, to be sent one after the other; large tensors are views, never copied. */
export interface EncodedMessage {
  readonly parts: readonly Uint8Array[]
  /** Bytes of all parts. */
  readonly size: number
}

/** Tensors up to this many bytes are copied into the head: one piece is cheaper to send than many. */
const SMALL = 8_192

/** ModelInferResponse. Outputs without data (in shared memory, or empty) have an empty raw entry (reference: gRPC §4.4). */
export function encodeInferMessage(response: InferResponse): EncodedMessage {
  const writer = new ProtoWriter()
  writeHead(writer, response)
  for (const output of response.outputs) writeTensor(writer, output)
  return appendRaw(writer, 6, response.outputs)
}

/** One message of a stream's answer (reference: gRPC §5). */
export interface StreamAnswer {
  readonly error: string
  /** Without outputs when there is an error. */
  readonly response: Omit<InferResponse, 'outputs'> & { readonly outputs: readonly Tensor[] }
  /** Undefined where the original's response does not say. */
  readonly final: boolean | undefined
}

export function encodeStreamMessage({ error, response, final }: StreamAnswer): EncodedMessage {
  const parameters =
    final === undefined ? response.parameters : { ...response.parameters, triton_final_response: final }
  const inner = encodeInferMessage({ ...response, parameters })
  const writer = new ProtoWriter()
  if (error !== '') {
    writer.tag(1, BYTES)
    writer.string(error)
  }
  writer.tag(2, BYTES)
  writer.varint(inner.size)
  const head = writer.finish()
  return { parts: [head, ...inner.parts], size: head.length + inner.size }
}

/** A decoupled model's last flag is to come as a response of its own. */
const EMPTY_FINAL: Parameters = { triton_enable_empty_final_response: true }

/** ModelInferRequest, as a client sends it: every input raw, but those in shared memory. */
export function encodeInferRequest(request: InferRequest, emptyFinal = false): EncodedMessage {
  const writer = new ProtoWriter()
  writeText(writer, 1, request.model)
  writeText(writer, 2, request.version)
  writeText(writer, 3, request.id)
  writeParameters(writer, 4, collectParameters(request))
  if (emptyFinal) writeParameters(writer, 4, EMPTY_FINAL)
  for (const input of request.inputs) writeTensor(writer, input, input.region && regionParameters(input.region))
  for (const { name, classification, region } of request.outputs) {
    const start = writer.begin(6)
    writeText(writer, 1, name)
    if (classification > 0) writeParameters(writer, 2, { classification: BigInt(classification) })
    else if (region !== undefined) writeParameters(writer, 2, regionParameters(region))
    writer.end(start)
  }
  const raw = request.inputs.filter(({ region }) => region === undefined)
  return appendRaw(writer, 7, raw)
}

function writeHead(writer: ProtoWriter, { model, version, id, parameters }: InferResponse): void {
  writeText(writer, 1, model)
  writeText(writer, 2, version)
  writeText(writer, 3, id)
  writeParameters(writer, 4, parameters)
}

function writeText(writer: ProtoWriter, number: number, text: string): void {
  if (text === '') return
  writer.tag(number, BYTES)
  writer.string(text)
}

/** Field 5 of requests and of responses. */
function writeTensor(writer: ProtoWriter, tensor: Omit<Tensor, 'data'>, parameters?: Parameters): void {
  const start = writer.begin(5)
  writeText(writer, 1, tensor.name)
  writeText(writer, 2, tensor.datatype)
  if (tensor.shape.length > 0) {
    const dims = writer.begin(3)
    for (const dim of tensor.shape) writer.int64(dim)
    writer.end(dims)
  }
  if (parameters !== undefined) writeParameters(writer, 4, parameters)
  writer.end(start)
}

function writeParameters(writer: ProtoWriter, number: number, parameters: Parameters): void {
  for (const key in parameters) {
    const value = parameters[key]
    if (value === undefined) continue
    const entry = writer.begin(number)
    writer.tag(1, BYTES)
    writer.string(key)
    const choice = writer.begin(2)
    writeChoice(writer, value)
    writer.end(choice)
    writer.end(entry)
  }
}

/** A bigint is an int64, beyond its range a uint64; a number is a double. */
function writeChoice(writer: ProtoWriter, value: ParameterValue): void {
  if (typeof value === 'boolean') {
    writer.tag(1, 0)
    writer.varint(value ? 1 : 0)
  } else if (typeof value === 'bigint') {
    writer.tag(value >= 2n ** 63n ? 5 : 2, 0)
    writer.big(value)
  } else if (typeof value === 'string') {
    writer.tag(3, BYTES)
    writer.string(value)
  } else {
    writer.tag(4, 1)
    writer.double(value)
  }
}

function appendRaw(writer: ProtoWriter, number: number, tensors: readonly Tensor[]): EncodedMessage {
  const parts: Uint8Array[] = []
  let head = writer
  let size = 0
  for (const { data } of tensors) {
    head.tag(number, BYTES)
    if (data.length <= SMALL) {
      head.bytes(data)
      continue
    }
    head.varint(data.length)
    const before = head.finish()
    parts.push(before, data)
    size += before.length + data.length
    head = new ProtoWriter()
  }
  const rest = head.finish()
  if (rest.length > 0) parts.push(rest)
  return { parts, size: size + rest.length }
}
