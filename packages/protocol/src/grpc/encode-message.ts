import { BYTES } from './reader.ts'
import { wireEnumeration, wireMessage, wireType } from './schema.ts'
import type { WireField, WireMessage } from './schema.ts'
import { ProtoWriter } from './writer.ts'

type Source = Readonly<Record<string, unknown>>

/** Encodes a message by its table, fields by number. Absent values and defaults are left out; 64-bit integers may be number or bigint. */
export function encodeMessage(name: string, value: object): Uint8Array {
  const writer = new ProtoWriter()
  writeFields(writer, wireMessage(name), value as Source)
  return writer.finish()
}

function writeFields(writer: ProtoWriter, message: WireMessage, source: Source): void {
  for (const field of message.fields) {
    const value = source[field.name]
    if (value !== undefined) writeField(writer, field, value)
  }
}

function writeField(writer: ProtoWriter, field: WireField, value: unknown): void {
  if (field.label === 'map') {
    for (const [key, one] of Object.entries(value as Source)) writeEntry(writer, field, [key, one])
  } else if (field.label === 'many') {
    writeList(writer, field, value as readonly unknown[])
  } else if (field.oneof || field.type === 'message' || !isDefault(field, value)) {
    writeOne(writer, field, value)
  }
}

function isDefault(field: WireField, value: unknown): boolean {
  if (field.type === 'enum') return wireEnumeration(field.typeName).values.get(value as string) === 0
  return (
    value === '' ||
    value === false ||
    value === 0 ||
    value === 0n ||
    (field.type === 'bytes' && (value as Uint8Array).length === 0)
  )
}

function writeList(writer: ProtoWriter, field: WireField, list: readonly unknown[]): void {
  if (wireType(field.type) === BYTES) {
    for (const one of list) writeOne(writer, field, one)
  } else if (list.length > 0) {
    const start = writer.begin(field.number)
    for (const one of list) writeValue(writer, field, one)
    writer.end(start)
  }
}

function writeEntry(writer: ProtoWriter, field: WireField, [key, value]: readonly [string, unknown]): void {
  const start = writer.begin(field.number)
  if (field.keyType === 'uint64') {
    writer.tag(1, 0)
    writer.big(BigInt(key))
  } else {
    writer.tag(1, BYTES)
    writer.string(key)
  }
  writeOne(writer, { ...field, number: 2 }, value)
  writer.end(start)
}

function writeOne(writer: ProtoWriter, field: WireField, value: unknown): void {
  if (field.type === 'message') {
    const start = writer.begin(field.number)
    writeFields(writer, wireMessage(field.typeName), value as Source)
    writer.end(start)
    return
  }
  writer.tag(field.number, wireType(field.type))
  writeValue(writer, field, value)
}

function writeValue(writer: ProtoWriter, field: WireField, value: unknown): void {
  if (field.type === 'string') writer.string(value as string)
  else if (field.type === 'bytes') writer.bytes(value as Uint8Array)
  else if (field.type === 'bool') writer.varint(value === true ? 1 : 0)
  else if (field.type === 'float') writer.float(value as number)
  else if (field.type === 'double') writer.double(value as number)
  else if (field.type === 'enum')
    writer.int64(wireEnumeration(field.typeName).values.get(value as string) ?? Number(value))
  else writer.int64(value as number | bigint)
}
