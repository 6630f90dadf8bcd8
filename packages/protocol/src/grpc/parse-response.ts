import { isDatatype, type Datatype } from '../datatype.ts'
import { ConchError } from '../status.ts'
import type { Tensor } from '../tensor.ts'
import { NO_PARAMETERS } from '../v2/parse-parameters.ts'
import type { Parameters, ParameterValue } from '../v2/request.ts'
import type { InferResponse } from '../v2/response.ts'
import { readParameter, type Choice } from './infer-message.ts'
import { ProtoReader } from './reader.ts'
import { readContents } from './typed-contents.ts'

/** One message of a stream, as a client sees it. */
export interface StreamMessage {
  /** '' = no error. */
  readonly error: string
  readonly response: InferResponse
}

/** ModelInferResponse. Tensors are views on `bytes`. Throws INTERNAL for bytes that are none. */
export function parseInferResponse(bytes: Uint8Array): InferResponse {
  return readResponse(new ProtoReader(bytes))
}

/** ModelStreamInferResponse. */
export function parseStreamResponse(bytes: Uint8Array): StreamMessage {
  const reader = new ProtoReader(bytes)
  let error = ''
  let response: InferResponse = { model: '', version: '', id: '', parameters: NO_PARAMETERS, outputs: [] }
  while (!reader.done) {
    const tag = reader.tag()
    if (tag === 0x0a) error = reader.string()
    else if (tag === 0x12) response = readResponse(reader.message())
    else reader.skip(tag)
  }
  return { error, response }
}

interface Head {
  name: string
  datatype: Datatype
  shape: number[]
  contents: Uint8Array | undefined
}

function readResponse(reader: ProtoReader): InferResponse {
  const parameters = new Map<string, Choice>()
  const heads: Head[] = []
  const raw: Uint8Array[] = []
  const response = { model: '', version: '', id: '' }
  while (!reader.done) {
    const tag = reader.tag()
    if (tag === 0x0a) response.model = reader.string()
    else if (tag === 0x12) response.version = reader.string()
    else if (tag === 0x1a) response.id = reader.string()
    else if (tag === 0x22) readParameter(reader.message(), parameters)
    else if (tag === 0x2a) heads.push(readHead(reader.message()))
    else if (tag === 0x32) raw.push(reader.bytes())
    else reader.skip(tag)
  }
  const outputs = heads.map((head, index) => toTensor(head, raw[index]))
  return { ...response, parameters: toParameters(parameters), outputs }
}

function readHead(reader: ProtoReader): Head {
  const head: Head = { name: '', datatype: 'BYTES', shape: [], contents: undefined }
  while (!reader.done) {
    const tag = reader.tag()
    if (tag === 0x0a) head.name = reader.string()
    else if (tag === 0x12) head.datatype = readDatatype(reader.string())
    else if (tag === 0x1a) for (const dims = reader.message(); !dims.done;) head.shape.push(dims.int64())
    else if (tag === 0x18) head.shape.push(reader.int64())
    else if (tag === 0x2a) head.contents = reader.bytes()
    else reader.skip(tag)
  }
  return head
}

function readDatatype(text: string): Datatype {
  if (isDatatype(text)) return text
  throw new ConchError('INTERNAL', `the server sent a tensor of the unknown datatype '${text}'`)
}

function toTensor({ name, datatype, shape, contents }: Head, raw: Uint8Array | undefined): Tensor {
  const typed = contents === undefined ? EMPTY : readContents(contents, { name, datatype }, '')
  return { name, datatype, shape, data: raw ?? typed }
}

const EMPTY = new Uint8Array(0)

function toParameters(choices: ReadonlyMap<string, Choice>): Parameters {
  if (choices.size === 0) return NO_PARAMETERS
  const parameters: Record<string, ParameterValue> = Object.create(null) as Record<string, ParameterValue>
  for (const [key, { value }] of choices) if (value !== undefined) parameters[key] = value
  return parameters
}
