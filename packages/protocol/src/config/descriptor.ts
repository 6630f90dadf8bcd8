import { BATCHING_MESSAGES } from './descriptor-batching.ts'
import { ENUMS } from './descriptor-enums.ts'
import { MODEL_MESSAGES } from './descriptor-model.ts'
import type { FieldRow } from './descriptor-table.ts'
import { TENSOR_MESSAGES } from './descriptor-tensor.ts'

export type ScalarType = 'string' | 'bool' | 'int32' | 'uint32' | 'int64' | 'uint64' | 'float' | 'double'
export type FieldLabel = 'one' | 'many' | 'map'

export interface Field {
  readonly name: string
  readonly number: number
  readonly label: FieldLabel
  readonly type: ScalarType | 'enum' | 'message'
  /** Full type name of a message or enum, as in `inference.ModelInput`; for a map, of its value. */
  readonly typeName: string
  /** Full name of the entry message and the key's type; only for maps. */
  readonly entry: string
  readonly keyType: 'string' | 'uint64'
  readonly oneof: string
  readonly doc: string
  readonly big: boolean
  readonly quoted: boolean
  readonly newer: boolean
}
export interface Message {
  /** Full name, as in `inference.ModelOptimizationPolicy.Graph`. */
  readonly name: string
  readonly doc: string
  /** In the order of declaration, which is the order of the original's JSON. */
  readonly fields: readonly Field[]
  readonly byName: ReadonlyMap<string, Field>
  /** In the order of the text printer. */
  readonly byNumber: readonly Field[]
}
export interface Enumeration {
  readonly name: string
  readonly values: ReadonlyMap<string, number>
  readonly names: ReadonlyMap<number, string>
  readonly docs: Readonly<Record<string, string>>
}

export const ROOT = 'inference.ModelConfig'
const SCALARS: ReadonlySet<string> = new Set([
  'string',
  'bool',
  'int32',
  'uint32',
  'int64',
  'uint64',
  'float',
  'double',
])
const ENUMERATIONS = buildEnumerations()
const MESSAGES = buildMessages()

/** Throws for a name that is not in the table: names come from the table itself. */
export function messageOf(name: string): Message {
  const message = MESSAGES.get(name)
  if (message === undefined) throw new TypeError(`no message ${name}`)
  return message
}
export function enumerationOf(name: string): Enumeration {
  const enumeration = ENUMERATIONS.get(name)
  if (enumeration === undefined) throw new TypeError(`no enumeration ${name}`)
  return enumeration
}
export function allEnumerations(): Iterable<Enumeration> {
  return ENUMERATIONS.values()
}
export function allMessages(): Iterable<Message> {
  return MESSAGES.values()
}

/** Held as bigint in a ModelConfig: uint64 counters and the fields marked so. */
export function isBig(field: Field): boolean {
  return field.type === 'uint64' || field.big
}

/** The proto3 default of a field that has no presence; undefined for messages and members of a oneof. */
export function defaultOf(field: Field): unknown {
  if (field.label === 'many') return []
  if (field.label === 'map') return Object.create(null)
  if (field.type === 'message' || field.oneof !== '') return undefined
  return scalarDefault(field)
}
export function scalarDefault(field: Field): unknown {
  if (field.type === 'string') return ''
  if (field.type === 'bool') return false
  if (field.type === 'enum') return enumerationOf(field.typeName).names.get(0) ?? '0'
  return isBig(field) ? 0n : 0
}

/** A message with every scalar, list and map present, as ModelConfig's types promise. */
export function createMessage(name: string): Record<string, unknown> {
  const made: Record<string, unknown> = {}
  for (const field of messageOf(name).fields) {
    const value = defaultOf(field)
    if (value !== undefined) made[field.name] = value
  }
  return made
}

function buildEnumerations(): Map<string, Enumeration> {
  const built = new Map<string, Enumeration>()
  for (const [short, rows] of Object.entries(ENUMS)) {
    const values = new Map(rows.map(([name, number]) => [name, number]))
    const names = new Map(rows.map(([name, number]) => [number, name]))
    const docs = Object.fromEntries(rows.map(([name, , doc]) => [name, doc]))
    built.set(`inference.${short}`, { name: `inference.${short}`, values, names, docs })
  }
  return built
}

function buildMessages(): Map<string, Message> {
  const built = new Map<string, Message>()
  const tables = { ...MODEL_MESSAGES, ...TENSOR_MESSAGES, ...BATCHING_MESSAGES }
  for (const [short, table] of Object.entries(tables)) {
    const name = `inference.${short}`
    const fields = table.fields.map((row) => readRow(name, row))
    built.set(name, assemble(name, table.doc, fields))
    for (const field of fields) if (field.label === 'map') built.set(field.entry, buildEntry(field))
  }
  return built
}

function assemble(name: string, doc: string, fields: readonly Field[]): Message {
  const byName = new Map(fields.map((field) => [field.name, field]))
  return { name, doc, fields, byName, byNumber: [...fields].sort((a, b) => a.number - b.number) }
}

function buildEntry(map: Field): Message {
  const base = { label: 'one', entry: '', oneof: '', quoted: false, newer: false, big: false } as const
  const key: Field = {
    ...base,
    name: 'key',
    number: 1,
    type: map.keyType,
    typeName: '',
    keyType: 'string',
    doc: `The key of ${map.name}.`,
  }
  const value: Field = { ...map, ...base, name: 'value', number: 2, doc: `What the key stands for: ${map.doc}` }
  return assemble(map.entry, `One entry of ${map.name}.`, [key, value])
}

function readRow(parent: string, row: FieldRow): Field {
  const [declaration, number, doc, extras = {}] = row
  const { label, key, type, name } = readDeclaration(declaration)
  return {
    name,
    number,
    label,
    type: typeOf(type),
    typeName: SCALARS.has(type) ? '' : `inference.${type}`,
    entry: label === 'map' ? `${parent}.${entryName(name)}` : '',
    keyType: key,
    oneof: extras.oneof ?? '',
    doc,
    big: extras.big === true,
    quoted: extras.quoted === true,
    newer: extras.newer === true,
  }
}

function typeOf(type: string): Field['type'] {
  if (SCALARS.has(type)) return type as ScalarType
  return Object.hasOwn(ENUMS, type) ? 'enum' : 'message'
}

interface Declaration {
  readonly label: FieldLabel
  readonly key: 'string' | 'uint64'
  readonly type: string
  readonly name: string
}

function readDeclaration(text: string): Declaration {
  const name = text.slice(text.lastIndexOf(' ') + 1)
  const before = text.slice(0, text.lastIndexOf(' '))
  const map = /^map<(string|uint64), ([\w.]+)>$/.exec(before)
  if (map !== null) return { label: 'map', key: map[1] === 'uint64' ? 'uint64' : 'string', type: map[2] ?? '', name }
  const repeated = before.startsWith('repeated ')
  return { label: repeated ? 'many' : 'one', key: 'string', type: repeated ? before.slice(9) : before, name }
}

/** `input_map` → `InputMapEntry`, as protoc names it. */
function entryName(field: string): string {
  const words = field.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return `${words.join('')}Entry`
}
