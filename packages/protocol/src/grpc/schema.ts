import { enumerationOf, isBig, messageOf as configMessage } from '../config/descriptor.ts'
import type { Field as ConfigField } from '../config/descriptor.ts'
import { BYTES, FIXED32, FIXED64, VARINT } from './reader.ts'
import { REFLECTION_MESSAGES } from './reflection-tables.ts'
import { SERVICE_MESSAGES } from './service-tables.ts'

type ScalarType = ConfigField['type'] | 'bytes'

/** One field as the codec sees it. */
export interface WireField {
  readonly name: string
  readonly number: number
  readonly label: 'one' | 'many' | 'map'
  readonly type: ScalarType
  /** Full name below `inference.` of a message or enumeration; of a map, its value's. */
  readonly typeName: string
  readonly keyType: 'string' | 'uint64'
  /** Member of a oneof: written even when it has the default value. */
  readonly oneof: boolean
  /** A 64-bit integer that is a bigint in memory; others are numbers. */
  readonly big: boolean
}

export interface WireMessage {
  readonly fields: readonly WireField[]
  readonly byNumber: ReadonlyMap<number, WireField>
}

const built = new Map<string, WireMessage>()

/** A message by its name below `inference.`; its table is read once. Throws for a name of no table. */
export function wireMessage(name: string): WireMessage {
  const known = built.get(name)
  if (known !== undefined) return known
  const table = findTable(name)
  const fields = table === undefined ? fromConfig(name) : readTable(table)
  const message = { fields, byNumber: new Map(fields.map((field) => [field.number, field])) }
  built.set(name, message)
  return message
}

/** Names and numbers of an enumeration of the config. */
export function wireEnumeration(name: string): ReturnType<typeof enumerationOf> {
  return enumerationOf(`inference.${name}`)
}

/** The wire type of a scalar; lists of numbers travel packed, as BYTES. */
export function wireType(type: ScalarType): number {
  if (type === 'string' || type === 'bytes' || type === 'message') return BYTES
  if (type === 'float') return FIXED32
  return type === 'double' ? FIXED64 : VARINT
}

function fromConfig(name: string): WireField[] {
  return configMessage(`inference.${name}`).byNumber.map((field) => ({
    name: field.name,
    number: field.number,
    label: field.label,
    type: field.type,
    typeName: field.typeName.replace(/^inference\./, ''),
    keyType: field.keyType,
    oneof: field.oneof !== '',
    big: isBig(field),
  }))
}

function findTable(name: string): string | undefined {
  if (Object.hasOwn(SERVICE_MESSAGES, name)) return SERVICE_MESSAGES[name]
  return Object.hasOwn(REFLECTION_MESSAGES, name) ? REFLECTION_MESSAGES[name] : undefined
}

/** The fields of a table that is written in the words of a .proto. */
export function readTable(table: string): WireField[] {
  const oneof = table.startsWith('oneof ')
  const rows = table.slice(oneof ? table.indexOf(':') + 1 : 0).split(';')
  return rows.filter((row) => row.trim() !== '').map((row) => parseRow(row.trim(), oneof))
}

const ROW = /^(?:(repeated) |map<string,([\w.]+)> )?(?:([\w.]+) )?(\w+) = (\d+)$/
const SCALARS = new Set(['string', 'bytes', 'bool', 'int32', 'uint32', 'int64', 'uint64', 'float', 'double'])

function parseRow(row: string, oneof: boolean): WireField {
  const [, repeated, mapped, plain, name = '', number = ''] = ROW.exec(row) ?? []
  const type = mapped ?? plain ?? ''
  const scalar = SCALARS.has(type)
  return {
    name,
    number: Number(number),
    label: mapped !== undefined ? 'map' : repeated !== undefined ? 'many' : 'one',
    type: scalar ? (type as ScalarType) : 'message',
    typeName: scalar ? '' : type,
    keyType: 'string',
    oneof,
    big: type === 'uint64',
  }
}
