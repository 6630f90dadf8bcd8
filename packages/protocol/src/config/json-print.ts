import type { Field, Message } from './descriptor.ts'
import { enumerationOf, messageOf, ROOT, scalarDefault } from './descriptor.ts'
import type { ModelConfig } from './schema.ts'

type Source = Readonly<Record<string, unknown>>

/**
 * The configuration as the original's `GET /v2/models/M/config` answers it: names of the .proto in the order of its
 * declarations, scalars, lists and maps always there, messages only when set, 64-bit integers as exact numbers except
 * for the few that the original leaves as strings.
 */
export function configToJson(config: ModelConfig): string {
  return printMessage(config as unknown as Source, messageOf(ROOT))
}

function printMessage(source: Source, message: Message): string {
  const parts: string[] = []
  for (const field of message.fields) {
    const value = source[field.name]
    if (value === undefined || (field.newer && value === scalarDefault(field))) continue
    parts.push(`"${field.name}":${printField(field, value)}`)
  }
  return `{${parts.join(',')}}`
}

function printField(field: Field, value: unknown): string {
  if (field.label === 'many') return `[${(value as readonly unknown[]).map((one) => printValue(field, one)).join(',')}]`
  if (field.label !== 'map') return printValue(field, value)
  const entries = Object.entries(value as Source).map(
    ([key, one]) => `${JSON.stringify(key)}:${printValue(field, one)}`,
  )
  return `{${entries.join(',')}}`
}

function printValue(field: Field, value: unknown): string {
  const { type } = field
  if (type === 'message') return printMessage(value as Source, messageOf(field.typeName))
  if (type === 'string') return JSON.stringify((value as string).toWellFormed())
  if (type === 'bool') return String(value as boolean)
  if (type === 'enum') return printEnum(field, value as string)
  if (type === 'float' || type === 'double') return printFloat(value as number, type === 'float')
  const text = printInteger(value as number | bigint)
  return field.quoted ? `"${text}"` : text
}

/** A number without a name is printed as a number. */
function printEnum(field: Field, value: string): string {
  return enumerationOf(field.typeName).values.has(value) ? `"${value}"` : value
}

/** Also for integers beyond 2^53 and those too large to print plainly. */
function printInteger(value: number | bigint): string {
  return typeof value === 'number' && !Number.isSafeInteger(value) ? String(BigInt(Math.trunc(value))) : String(value)
}

/** The shortest decimal that reads back as the same number; what JSON cannot say is a string, as in protobuf's JSON. */
export function printFloat(value: number, single: boolean): string {
  if (Number.isNaN(value)) return '"NaN"'
  if (!Number.isFinite(value)) return value > 0 ? '"Infinity"' : '"-Infinity"'
  return single ? shortestSingle(value) : String(value)
}

export function shortestSingle(value: number): string {
  for (let digits = 1; digits <= 9; digits += 1) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return String(short)
  }
  return String(value)
}
