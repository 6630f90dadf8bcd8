import { ConchError } from '../status.ts'
import type { JsonValue } from '../v2/json-value.ts'
import { blankMessage } from './decode-message.ts'
import { wireMessage } from './schema.ts'
import type { WireField } from './schema.ts'

type Members = { readonly [member: string]: JsonValue }
type Decoded = Record<string, unknown>

/**
 * A message that came as JSON, as `decodeMessage` would have it: both wires name the members alike. Members that the table does not know are left
 * out, missing ones have their defaults. Throws INTERNAL when a member is of another kind.
 */
export function messageFromJson(name: string, value: JsonValue): Decoded {
  const message = wireMessage(name)
  const members = readMembers(value, name)
  const target = blankMessage(message)
  for (const field of message.fields) {
    const member = members[field.name]
    if (member !== undefined && member !== null) target[field.name] = readMember(field, member)
  }
  return target
}

function readMembers(value: JsonValue, name: string): Members {
  if (typeof value === 'object' && value !== null && !isList(value)) return value
  throw new ConchError('INTERNAL', `expected ${name} as a JSON object`)
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}

function readMember(field: WireField, value: JsonValue): unknown {
  if (field.label === 'one') return readOne(field, value)
  if (field.label === 'many')
    return isList(value) ? value.map((one) => readOne(field, one)) : failKind(field, 'an array')
  const map = Object.create(null) as Decoded
  for (const [key, one] of Object.entries(readMembers(value, field.name))) map[key] = readOne(field, one)
  return map
}

function readOne(field: WireField, value: JsonValue): unknown {
  if (field.type === 'message') return messageFromJson(field.typeName, value)
  if (INTEGERS.has(field.type)) return readInteger(field, value)
  const kind = KINDS[field.type]
  if (kind === 'number' && typeof value === 'bigint') return Number(value)
  return typeof value === kind ? value : failKind(field, `a ${kind ?? 'thing that JSON has'}`)
}

const INTEGERS: ReadonlySet<string> = new Set(['int32', 'uint32', 'int64', 'uint64'])
/** By type: what typeof says of a good value. Bytes do not travel as JSON. */
const KINDS: Readonly<Record<string, 'string' | 'boolean' | 'number'>> = {
  string: 'string',
  enum: 'string',
  bool: 'boolean',
  float: 'number',
  double: 'number',
}

function readInteger(field: WireField, value: JsonValue): number | bigint {
  if (typeof value !== 'bigint') return failKind(field, 'an integer')
  return field.big ? value : Number(value)
}

function failKind(field: WireField, kind: string): never {
  throw new ConchError('INTERNAL', `expected '${field.name}' to be ${kind}`)
}
