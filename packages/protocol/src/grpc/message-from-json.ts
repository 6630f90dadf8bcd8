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
  switch (field.type) {
    case 'message':
      return messageFromJson(field.typeName, value)
    case 'string':
    case 'enum':
      return typeof value === 'string' ? value : failKind(field, 'a string')
    case 'bool':
      return typeof value === 'boolean' ? value : failKind(field, 'a boolean')
    case 'float':
    case 'double':
      return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : failKind(field, 'a number')
    case 'bytes':
      return failKind(field, 'nothing: bytes do not travel as JSON')
    case 'int32':
    case 'uint32':
    case 'int64':
    case 'uint64':
      return readInteger(field, value)
  }
}

function readInteger(field: WireField, value: JsonValue): number | bigint {
  if (typeof value !== 'bigint') return failKind(field, 'an integer')
  return field.big ? value : Number(value)
}

function failKind(field: WireField, kind: string): never {
  throw new ConchError('INTERNAL', `expected '${field.name}' to be ${kind}`)
}
