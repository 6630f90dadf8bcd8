import type { Datatype } from '../datatype.ts'
import { ConchError } from '../status.ts'
import { ProtoReader } from './reader.ts'

/** What a parameter's oneof holds; `unset` when the message came without a member. */
export type Choice =
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'int64' | 'uint64'; readonly value: bigint }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'double'; readonly value: number }
  | { readonly kind: 'unset'; readonly value: undefined }

/** ModelInferRequest as it travelled, before it is judged. Names are the message's, bytes are views. */
export interface InferMessage {
  model: string
  version: string
  id: string
  parameters: Map<string, Choice> | undefined
  inputs: InputMessage[]
  outputs: OutputMessage[]
  raw: Uint8Array[]
}
export interface InputMessage {
  name: string
  datatype: Datatype | (string & {})
  shape: number[]
  parameters: Map<string, Choice> | undefined
  /** InferTensorContents, undecoded; undefined when absent. */
  contents: Uint8Array | undefined
}
export interface OutputMessage {
  name: string
  parameters: Map<string, Choice> | undefined
}

/** Most inputs, outputs, raw contents and parameters of one request; as many as over HTTP. */
const MOST = 10_000

/** Reads the structure of a ModelInferRequest. Throws INTERNAL for bytes that are none. */
export function readInferMessage(bytes: Uint8Array): InferMessage {
  const reader = new ProtoReader(bytes)
  const message: InferMessage = {
    model: '',
    version: '',
    id: '',
    parameters: undefined,
    inputs: [],
    outputs: [],
    raw: [],
  }
  let fields = 0
  while (!reader.done) {
    fields += 1
    if (fields > MOST) throw tooMany()
    readMember(reader, reader.tag(), message)
  }
  return message
}

function readMember(reader: ProtoReader, tag: number, message: InferMessage): void {
  switch (tag) {
    case 0x0a:
      message.model = reader.string()
      break
    case 0x12:
      message.version = reader.string()
      break
    case 0x1a:
      message.id = reader.string()
      break
    case 0x22:
      readParameter(reader.message(), (message.parameters ??= new Map()))
      break
    case 0x2a:
      message.inputs.push(readInput(reader.message()))
      break
    case 0x32:
      message.outputs.push(readOutput(reader.message()))
      break
    case 0x3a:
      message.raw.push(reader.bytes())
      break
    default:
      reader.skip(tag)
  }
}

function readInput(reader: ProtoReader): InputMessage {
  const input: InputMessage = { name: '', datatype: '', shape: [], parameters: undefined, contents: undefined }
  while (!reader.done) {
    const tag = reader.tag()
    if (tag === 0x0a) input.name = reader.string()
    else if (tag === 0x12) input.datatype = reader.string()
    else if (tag === 0x1a) readDims(reader.message(), input.shape)
    else if (tag === 0x18) input.shape.push(reader.int64())
    else if (tag === 0x22) readParameter(reader.message(), (input.parameters ??= new Map()))
    else if (tag === 0x2a) input.contents = reader.bytes()
    else reader.skip(tag)
  }
  return input
}

function readDims(reader: ProtoReader, shape: number[]): void {
  while (!reader.done) shape.push(reader.int64())
}

function readOutput(reader: ProtoReader): OutputMessage {
  const output: OutputMessage = { name: '', parameters: undefined }
  while (!reader.done) {
    const tag = reader.tag()
    if (tag === 0x0a) output.name = reader.string()
    else if (tag === 0x12) readParameter(reader.message(), (output.parameters ??= new Map()))
    else reader.skip(tag)
  }
  return output
}

const UNSET: Choice = { kind: 'unset', value: undefined }

export function readParameter(reader: ProtoReader, into: Map<string, Choice>): void {
  let key = ''
  let choice = UNSET
  while (!reader.done) {
    const tag = reader.tag()
    if (tag === 0x0a) key = reader.string()
    else if (tag === 0x12) choice = readChoice(reader.message())
    else reader.skip(tag)
  }
  if (into.size >= MOST) throw tooMany()
  into.set(key, choice)
}

function readChoice(reader: ProtoReader): Choice {
  let choice = UNSET
  while (!reader.done) {
    const tag = reader.tag()
    if (tag === 0x08) choice = { kind: 'bool', value: reader.bool() }
    else if (tag === 0x10) choice = { kind: 'int64', value: reader.big(true) }
    else if (tag === 0x1a) choice = { kind: 'string', value: reader.string() }
    else if (tag === 0x21) choice = { kind: 'double', value: reader.fixed64().getFloat64(0, true) }
    else if (tag === 0x28) choice = { kind: 'uint64', value: reader.big(false) }
    else reader.skip(tag)
  }
  return choice
}

function tooMany(): ConchError {
  return new ConchError('INVALID_ARG', `a request has at most ${MOST} inputs, outputs, contents and parameters`)
}
