import type { Field, Message } from '../descriptor.ts'
import { messageOf, ROOT, scalarDefault } from '../descriptor.ts'
import type { ModelConfig } from '../schema.ts'
import { quoteLiteral } from './bytes.ts'

type Source = Readonly<Record<string, unknown>>

/** The configuration as the original's text printer writes it: fields by number, 2 spaces, defaults left out. */
export function printPbtxt(config: ModelConfig): string {
  const lines = printFields(config as unknown as Source, messageOf(ROOT), '')
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}

function printFields(source: Source, message: Message, indent: string): string[] {
  const lines: string[] = []
  for (const field of message.byNumber) {
    const value = source[field.name]
    if (value === undefined || isDefault(field, value)) continue
    lines.push(...printField(field, value, indent))
  }
  return lines
}

function isDefault(field: Field, value: unknown): boolean {
  return field.label === 'one' && field.type !== 'message' && field.oneof === '' && value === scalarDefault(field)
}

/** All lines of one field. */
export function printField(field: Field, value: unknown, indent: string): string[] {
  if (field.label === 'many') return (value as readonly unknown[]).flatMap((one) => printOne(field, one, indent))
  if (field.label === 'map')
    return sortedKeys(field, value as Source).flatMap((key) =>
      printEntry(field, key, { value: (value as Source)[key], indent }),
    )
  return printOne(field, value, indent)
}

function sortedKeys(field: Field, map: Source): string[] {
  const keys = Object.keys(map)
  if (field.keyType === 'uint64') return keys.sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
  return keys.sort()
}

export function printEntry(
  field: Field,
  key: string,
  entry: { readonly value: unknown; readonly indent: string },
): string[] {
  const { value, indent } = entry
  const inner = `${indent}  `
  const name = field.keyType === 'uint64' ? key : quoteLiteral(key)
  return [
    `${indent}${field.name} {`,
    `${inner}key: ${name}`,
    ...printOne({ ...field, name: 'value' }, value, inner),
    `${indent}}`,
  ]
}

function printOne(field: Field, value: unknown, indent: string): string[] {
  if (field.type !== 'message') return [`${indent}${field.name}: ${printScalar(field, value)}`]
  const lines = printFields(value as Source, messageOf(field.typeName), `${indent}  `)
  return [`${indent}${field.name} {`, ...lines, `${indent}}`]
}

/** One scalar as it is written behind the colon. */
export function printScalar(field: Field, value: unknown): string {
  if (field.type === 'string') return quoteLiteral(value as string)
  if (field.type === 'float') return printNumber(value as number, true)
  if (field.type === 'double') return printNumber(value as number, false)
  if (typeof value === 'number' && !Number.isSafeInteger(value)) return String(BigInt(Math.trunc(value)))
  return String(value)
}

/** As the original: 6 digits (float) or 15 (double) when they read back as the same number, else 9 or 17. */
function printNumber(value: number, single: boolean): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf'
  if (Object.is(value, -0)) return '-0'
  const few = single ? 6 : 15
  const rounded = Number(value.toPrecision(few))
  const isExact = (single ? Math.fround(rounded) : rounded) === value
  return printGeneral(value, isExact ? few : single ? 9 : 17)
}

/** C's `%.<digits>g`. */
function printGeneral(value: number, digits: number): string {
  const [mantissa = '', power = '0'] = value.toExponential(digits - 1).split('e')
  const exponent = Number(power)
  if (exponent >= -4 && exponent < digits) return stripZeros(value.toFixed(Math.max(0, digits - 1 - exponent)))
  const size = String(Math.abs(exponent)).padStart(2, '0')
  return `${stripZeros(mantissa)}e${exponent < 0 ? '-' : '+'}${size}`
}

function stripZeros(text: string): string {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}
