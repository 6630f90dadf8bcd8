import type { Field } from '../descriptor.ts'
import { enumerationOf, isBig } from '../descriptor.ts'
import { adviseBoolean, adviseEnum, adviseInteger, adviseString } from './advice.ts'
import { unescapeLiteral } from './bytes.ts'
import type { Cursor } from './cursor.ts'

/** What a reader returns when it has reported a problem. */
export const UNREADABLE = Symbol('unreadable')
type Read<Value> = Value | typeof UNREADABLE

const LIMITS = { int32: 2n ** 31n - 1n, uint32: 2n ** 32n - 1n, int64: 2n ** 63n - 1n, uint64: 2n ** 64n - 1n } as const
const SAFE = BigInt(Number.MAX_SAFE_INTEGER)

/** Reads one scalar of the field's type, as ConsumeFieldValue of the original does. */
export function readScalar(cursor: Cursor, field: Field): unknown {
  switch (field.type) {
    case 'string':
      return readString(cursor, field)
    case 'bool':
      return readBoolean(cursor, field)
    case 'enum':
      return readEnum(cursor, field)
    case 'float':
    case 'double':
      return readFloat(cursor, field)
    case 'message':
      return UNREADABLE
    case 'int32':
    case 'uint32':
    case 'int64':
    case 'uint64':
      return readInteger(cursor, field, field.type)
  }
}

function readInteger(cursor: Cursor, field: Field, type: keyof typeof LIMITS): Read<number | bigint> {
  const at = cursor.token
  const value = type.startsWith('u')
    ? readUnsigned(cursor, field, LIMITS[type])
    : readSigned(cursor, field, LIMITS[type])
  if (value === UNREADABLE) return UNREADABLE
  if (isBig(field)) return value
  if (value > SAFE || value < -SAFE) {
    cursor.warn(at, `${field.name} ${String(value)} is beyond 2^53 and is read as ${String(BigInt(Number(value)))}`)
  }
  return Number(value)
}

function readSigned(cursor: Cursor, field: Field, limit: bigint): Read<bigint> {
  const negative = cursor.tryTake('-')
  const value = readUnsigned(cursor, field, negative ? limit + 1n : limit)
  if (value === UNREADABLE) return UNREADABLE
  return negative ? -value : value
}

function readUnsigned(cursor: Cursor, field: Field, limit: bigint): Read<bigint> {
  const text = cursor.tokenText()
  if (cursor.token.kind !== 'integer') {
    cursor.fail(`Expected integer, got: ${text}`, adviseInteger(cursor, field))
    return UNREADABLE
  }
  const value = parseInteger(text)
  if (value === undefined || value > limit) {
    cursor.fail(`Integer out of range (${text})`, { expected: `an integer up to ${String(limit)}` })
    return UNREADABLE
  }
  cursor.advance()
  return value
}

/** Decimal, `0x` or octal; undefined for digits that the base does not have. A text of many digits costs nothing. */
function parseInteger(text: string): bigint | undefined {
  const digits = text.replace(/^0+(?=\w)/, '')
  if (digits.length > 24) return undefined
  if (/^0[xX]/.test(text)) return /^[xX][0-9a-fA-F]+$/.test(digits) ? BigInt(`0${digits}`) : undefined
  if (text.length > 1 && text.startsWith('0')) return /^[0-7]+$/.test(digits) ? BigInt(`0o${digits}`) : undefined
  return /^\d+$/.test(digits) ? BigInt(digits) : undefined
}

function readFloat(cursor: Cursor, field: Field): Read<number> {
  const negative = cursor.tryTake('-')
  const value = readUnsignedFloat(cursor, field)
  if (value === UNREADABLE) return UNREADABLE
  const signed = negative ? -value : value
  return field.type === 'float' ? toSingle(signed) : signed
}

/** As the original: a value that is a little beyond the largest float is taken for it. */
function toSingle(value: number): number {
  return Math.fround(value)
}

function readUnsignedFloat(cursor: Cursor, field: Field): Read<number> {
  const text = cursor.tokenText()
  const { kind } = cursor.token
  if (kind === 'integer' && /^0[xX\d]/.test(text)) {
    cursor.fail(`Expect a decimal number, got: ${text}`, { expected: 'a decimal number' })
    return UNREADABLE
  }
  if (kind === 'integer' || kind === 'float') {
    cursor.advance()
    return Number(/^[\d.]*(?:[eE][-+]?\d+)?/.exec(text)?.[0] ?? text)
  }
  const word = kind === 'identifier' ? text.toLowerCase() : text
  if (kind === 'identifier' && ['inf', 'infinity', 'nan'].includes(word)) {
    cursor.advance()
    return word === 'nan' ? NaN : Infinity
  }
  cursor.fail(`Expected double, got: ${word}`, adviseInteger(cursor, field))
  return UNREADABLE
}

function readString(cursor: Cursor, field: Field): Read<string> {
  if (cursor.token.kind !== 'string') {
    cursor.fail(`Expected string, got: ${cursor.tokenText()}`, adviseString(cursor, field))
    return UNREADABLE
  }
  const parts: string[] = []
  while (cursor.token.kind === 'string') {
    parts.push(unescapeLiteral(cursor.tokenText()))
    cursor.advance()
  }
  return parts.join('')
}

const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true,
  True: true,
  t: true,
  false: false,
  False: false,
  f: false,
}

function readBoolean(cursor: Cursor, field: Field): Read<boolean> {
  if (cursor.token.kind === 'integer') {
    const value = readUnsigned(cursor, field, 1n)
    return value === UNREADABLE ? UNREADABLE : value === 1n
  }
  const text = cursor.tokenText()
  const value = Object.hasOwn(BOOLEANS, text) ? BOOLEANS[text] : undefined
  if (value !== undefined) {
    cursor.advance()
    return value
  }
  const advice = adviseBoolean(cursor)
  if (cursor.token.kind === 'identifier') {
    // The original complains at the token after the value.
    cursor.advance()
    cursor.fail(`Invalid value for boolean field "${field.name}". Value: "${text}".`, advice)
  } else cursor.fail(`Expected identifier, got: ${text}`, advice)
  return UNREADABLE
}

/** A number without a name is accepted, as in the original, and held as its decimal text. */
function readEnum(cursor: Cursor, field: Field): Read<string> {
  const enumeration = enumerationOf(field.typeName)
  const text = cursor.tokenText()
  const { kind } = cursor.token
  if (kind === 'identifier' && enumeration.values.has(text)) {
    cursor.advance()
    return text
  }
  if (kind === 'integer' || cursor.isAt('-')) {
    const value = readSigned(cursor, field, LIMITS.int32)
    return value === UNREADABLE ? UNREADABLE : (enumeration.names.get(Number(value)) ?? String(value))
  }
  const advice = adviseEnum(cursor, field)
  if (kind === 'identifier') {
    cursor.advance()
    cursor.fail(`Unknown enumeration value of "${text}" for field "${field.name}".`, advice)
  } else cursor.fail(`Expected integer or identifier, got: ${text}`, advice)
  return UNREADABLE
}
