import { ConchError } from '../status.ts'
import { BYTES, ProtoReader } from './reader.ts'
import { wireEnumeration, wireMessage, wireType } from './schema.ts'
import type { WireField, WireMessage } from './schema.ts'

type Decoded = Record<string, unknown>
/** Messages inside messages; the deepest of ours has six. */
const MAX_DEPTH = 32

/**
 * Decodes a message by its table: scalars and lists are always there (proto3 defaults), messages and members of a oneof only when they
 * came. uint64 is bigint, int64 a number (see WireField.big), bytes are views. Throws INTERNAL for bytes that are no such message.
 */
export function decodeMessage(name: string, bytes: Uint8Array): Decoded {
  return read(new ProtoReader(bytes), wireMessage(name), 0)
}

function read(reader: ProtoReader, message: WireMessage, depth: number): Decoded {
  if (depth > MAX_DEPTH) throw new ConchError('INTERNAL', 'unable to parse message: it is nested too deeply')
  const target = blankMessage(message)
  while (!reader.done) {
    const tag = reader.tag()
    const field = message.byNumber.get(tag >>> 3)
    if (field === undefined) reader.skip(tag)
    else readField(reader, tag, { field, target, depth })
  }
  return target
}

/** A message in which nothing came: scalars, lists and maps have their defaults. */
export function blankMessage(message: WireMessage): Decoded {
  const made: Decoded = {}
  for (const field of message.fields) {
    if (field.label === 'many') made[field.name] = []
    else if (field.label === 'map') made[field.name] = Object.create(null)
    else if (field.type !== 'message' && !field.oneof) made[field.name] = defaultOf(field)
  }
  return made
}

export function defaultOf(field: WireField): unknown {
  if (field.type === 'string') return ''
  if (field.type === 'bool') return false
  if (field.type === 'bytes') return new Uint8Array(0)
  if (field.type === 'enum') return wireEnumeration(field.typeName).names.get(0) ?? '0'
  return field.big ? 0n : 0
}

interface Place {
  readonly field: WireField
  readonly target: Decoded
  readonly depth: number
}

function readField(reader: ProtoReader, tag: number, { field, target, depth }: Place): void {
  const type = tag & 7
  if (field.label === 'map') {
    const [key, value] = readEntry(reader.message(), field, depth)
    ;(target[field.name] as Decoded)[key] = value
    return
  }
  const expected = wireType(field.type)
  if (field.label === 'many' && type === BYTES && expected !== BYTES) {
    const packed = reader.message()
    while (!packed.done) (target[field.name] as unknown[]).push(readValue(packed, field, depth))
    return
  }
  if (type !== expected) {
    reader.skip(tag)
    return
  }
  const value = readValue(reader, field, depth)
  if (field.label === 'many') (target[field.name] as unknown[]).push(value)
  else target[field.name] = value
}

function readEntry(reader: ProtoReader, field: WireField, depth: number): [key: string, value: unknown] {
  let key = field.keyType === 'uint64' ? '0' : ''
  let value: unknown =
    field.type === 'message' ? read(new ProtoReader(EMPTY), wireMessage(field.typeName), depth + 1) : defaultOf(field)
  while (!reader.done) {
    const tag = reader.tag()
    if (tag >>> 3 === 1) key = field.keyType === 'uint64' ? String(reader.big(false)) : reader.string()
    else if (tag >>> 3 === 2) value = readValue(reader, field, depth)
    else reader.skip(tag)
  }
  return [key, value]
}

const EMPTY = new Uint8Array(0)

function readValue(reader: ProtoReader, field: WireField, depth: number): unknown {
  if (field.type === 'message') return read(reader.message(), wireMessage(field.typeName), depth + 1)
  return field.big ? reader.big(field.type === 'int64') : READERS[field.type](reader, field)
}

const READERS: Readonly<
  Record<Exclude<WireField['type'], 'message'>, (reader: ProtoReader, field: WireField) => unknown>
> = {
  string: (reader) => reader.string(),
  bytes: (reader) => reader.bytes(),
  bool: (reader) => reader.bool(),
  enum: (reader, field) => {
    const number = reader.int32()
    return wireEnumeration(field.typeName).names.get(number) ?? String(number)
  },
  float: (reader) => reader.fixed32().getFloat32(0, true),
  double: (reader) => reader.fixed64().getFloat64(0, true),
  int32: (reader) => reader.int32(),
  uint32: (reader) => reader.int32() >>> 0,
  int64: (reader) => reader.int64(),
  uint64: (reader) => Number(reader.big(false)),
}
