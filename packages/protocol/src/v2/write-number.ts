import type { JsonBuffer } from './json-buffer.ts'

/** A double as the original prints it: shortest digits, `.0` behind integers, exponents without plus. */
export function formatDouble(value: number): string {
  if (Object.is(value, -0)) return '-0.0'
  const text = String(value)
  if (text.includes('e')) return text.replace('e+', 'e')
  return Number.isInteger(value) ? `${text}.0` : text
}

export function writeDouble(out: JsonBuffer, value: number): void {
  out.ascii(formatDouble(value))
}
