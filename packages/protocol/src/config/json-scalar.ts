import type { Field } from './descriptor.ts'
import { enumerationOf, isBig } from './descriptor.ts'
import type { JsonValue } from './json-scan.ts'
import { guessEnum } from './pbtxt/spelling.ts'

export const BAD_VALUE = Symbol('bad value')
export interface JsonScalar {
  readonly value: unknown
  readonly error: string
  readonly hint?: string | undefined
}

const RANGE: Readonly<Record<string, readonly [least: bigint, most: bigint]>> = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
}

/** One scalar by protobuf's JSON rules; `value` is BAD_VALUE when it does not fit the field. */
export function readJsonScalar(value: JsonValue, field: Field): JsonScalar {
  const { type } = field
  if (type === 'string')
    return typeof value === 'string' ? good(value) : bad('Expected a string.', 'texts are written in double quotes')
  if (type === 'bool') return typeof value === 'boolean' ? good(value) : bad('Expected true or false.')
  if (type === 'enum') return readEnum(value, field)
  return type === 'float' || type === 'double' ? readFloat(value, type === 'float') : readInteger(value, field)
}

function good(value: unknown): JsonScalar {
  return { value, error: '' }
}
function bad(error: string, hint?: string): JsonScalar {
  return { value: BAD_VALUE, error, hint }
}

function numberText(value: JsonValue): string | undefined {
  if (typeof value === 'string') return /^-?\d[\d.eE+-]{0,40}$/.test(value) ? value : undefined
  return typeof value === 'object' && value !== null && value.kind === 'number' ? value.text : undefined
}

function readInteger(value: JsonValue, field: Field): JsonScalar {
  const text = numberText(value)
  const exact = text === undefined ? undefined : parseWhole(text)
  if (exact === undefined) return bad('Expected an integer.')
  const [least, most] = RANGE[field.type] ?? [0n, 0n]
  if (exact < least || exact > most) return bad(`Integer out of range (${String(exact)}).`)
  return good(isBig(field) ? exact : Number(exact))
}

/** `1.0` and `1e3` are whole numbers too. */
function parseWhole(text: string): bigint | undefined {
  const match = /^(-?)(\d{1,40})(?:\.(\d{1,40}))?(?:[eE]([-+]?\d{1,2}))?$/.exec(text)
  if (match === null) return undefined
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  const shift = Number(exponent) - fraction.length
  const digits = BigInt(whole + fraction)
  const unit = 10n ** BigInt(Math.abs(shift))
  if (shift < 0 && digits % unit !== 0n) return undefined
  const size = shift < 0 ? digits / unit : digits * unit
  return sign === '-' ? -size : size
}

function readFloat(value: JsonValue, single: boolean): JsonScalar {
  const text = numberText(value)
  const special = typeof value === 'string' && ['NaN', 'Infinity', '-Infinity'].includes(value)
  const number = special ? Number(value) : text === undefined ? undefined : Number(text)
  if (number === undefined || (Number.isNaN(number) && value !== 'NaN')) return bad('Expected a number.')
  return good(single ? Math.fround(number) : number)
}

function readEnum(value: JsonValue, field: Field): JsonScalar {
  const enumeration = enumerationOf(field.typeName)
  if (typeof value === 'string') {
    if (enumeration.values.has(value)) return good(value)
    const near = guessEnum(value, [...enumeration.values.keys()])
    return bad(`Invalid enum value: ${value}.`, near === undefined ? undefined : `did you mean ${near}?`)
  }
  const text = numberText(value)
  const number = text === undefined ? undefined : parseWhole(text)
  if (number === undefined || number < -(2n ** 31n) || number >= 2n ** 31n)
    return bad('Expected the name of an enumeration value.')
  return good(enumeration.names.get(Number(number)) ?? String(number))
}
