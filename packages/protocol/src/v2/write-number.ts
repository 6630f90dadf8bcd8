import type { JsonBuffer } from './json-buffer.ts'
import { digits, findDigits } from './find-digits.ts'
import { type Digits, generateDigits } from './grisu.ts'

/** Room that any number needs: 21 digits, a sign, `.0`, or 17 digits with sign, point and exponent. */
export const MAX_NUMBER_SIZE = 32

const MINUS = 0x2d
const DOT = 0x2e
const ZERO = 0x30

/** Four digits as one 32-bit word, the first in the lowest byte. */
const QUADS = Int32Array.from({ length: 10_000 }, (_, i) => {
  const thousands = Math.floor(i / 1000)
  const hundreds = Math.floor(i / 100) % 10
  const tens = Math.floor(i / 10) % 10
  return 0x30303030 + (thousands | (hundreds << 8) | (tens << 16) | ((i % 10) << 24))
})

/** A double as the original prints it: Grisu2's digits, `.0` behind integers, exponents without plus. */
export function formatDouble(value: number): string {
  if (!Number.isFinite(value)) return String(value)
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  return sign + (value === 0 ? '0.0' : formatDigits(generateDigits(Math.abs(value))))
}

function formatDigits({ text, exponent }: Digits): string {
  const significant = text.replace(/0+$/, '')
  // Digits before the point.
  const point = text.length + exponent
  if (point > 21 || point <= -6) {
    const fraction = significant.slice(1)
    return `${significant[0] ?? ''}${fraction === '' ? '' : `.${fraction}`}e${point - 1}`
  }
  if (point <= 0) return `0.${'0'.repeat(-point)}${significant}`
  return `${significant.slice(0, point).padEnd(point, '0')}.${significant.slice(point) || '0'}`
}

/** Writes a double; `out` must have room for MAX_NUMBER_SIZE bytes. */
export function putDouble(out: JsonBuffer, value: number): void {
  const small = value | 0
  if (small === value && small > 0 && small < 10_000) {
    const bytes = out.bytes
    const at = putSmall(bytes, out.size, small)
    bytes[at] = DOT
    bytes[at + 1] = ZERO
    out.size = at + 2
  } else putAnyDouble(out, value)
}

function putAnyDouble(out: JsonBuffer, value: number): void {
  const start = out.size
  let x = value
  if (x < 0 || (x === 0 && 1 / x < 0)) {
    out.bytes[out.size++] = MINUS
    x = -x
  }
  if (x < 1e9 && x === Math.floor(x)) {
    putInteger(out, x)
    out.bytes[out.size++] = DOT
    out.bytes[out.size++] = ZERO
  } else if (findDigits(x)) putDigits(out)
  else {
    out.size = start
    putText(out, formatDouble(value))
  }
}

/** Writes an integer from 0 to 9999; returns the position behind it. */
function putSmall(bytes: Uint8Array, at: number, value: number): number {
  const quad = QUADS[value] as number
  if (value >= 1000) bytes[at++] = quad
  if (value >= 100) bytes[at++] = quad >> 8
  if (value >= 10) bytes[at++] = quad >> 16
  bytes[at] = quad >> 24
  return at + 1
}

function putText(out: JsonBuffer, text: string): void {
  const bytes = out.bytes
  let at = out.size
  for (let i = 0; i < text.length; i += 1) bytes[at++] = text.charCodeAt(i)
  out.size = at
}

/** Writes a non-negative integer below 2^31. */
export function putInteger(out: JsonBuffer, value: number): void {
  const bytes = out.bytes
  let at = out.size
  let left = value | 0
  if (left < 10_000) {
    out.size = putSmall(bytes, at, left)
    return
  }
  at += left < 1e6 ? (left < 1e5 ? 5 : 6) : left < 1e8 ? (left < 1e7 ? 7 : 8) : left < 1e9 ? 9 : 10
  out.size = at
  while (left > 0) {
    const next = (left / 10) | 0
    bytes[--at] = ZERO + left - next * 10
    left = next
  }
}

/** Writes the found digits. */
function putDigits(out: JsonBuffer): void {
  const { high, scale } = digits
  const lead = Math.floor(high * 1e-8)
  const leadLength = lead < 10 ? 1 : 2
  // Where the point is, counted from the first digit.
  const point = 16 + leadLength - scale
  const { bytes, view } = out
  const at = out.size
  // One byte is left free for the point.
  let from = at + 1
  if (point <= 0 && point > -6) {
    bytes[at] = ZERO
    bytes[at + 1] = DOT
    view.setInt32(at + 2, 0x30303030, true)
    bytes[at + 6] = ZERO
    from = at + 2 - point
  }
  if (lead < 10) bytes[from] = ZERO + lead
  else {
    bytes[from] = ZERO + 1
    bytes[from + 1] = ZERO - 10 + lead
  }
  const end = putSixteen(out, from + leadLength, (high - lead * 1e8) | 0)
  if (from !== at + 1) out.size = end
  else if (point <= 0 || point > 21) putExponent(out, end, point - 1)
  else putPoint(out, end, point)
}

/** Moves the digits before the point to where they belong and sets the point, or zeros where digits are missing. */
function putPoint(out: JsonBuffer, end: number, point: number): void {
  const bytes = out.bytes
  const at = out.size
  for (let i = at; i < at + point; i += 1) bytes[i] = i + 1 < end ? (bytes[i + 1] as number) : ZERO
  bytes[at + point] = DOT
  if (end > at + point + 1) out.size = end
  else {
    bytes[at + point + 1] = ZERO
    out.size = at + point + 2
  }
}

function putExponent(out: JsonBuffer, end: number, exponent: number): void {
  const bytes = out.bytes
  const at = out.size
  bytes[at] = bytes[at + 1] as number
  bytes[at + 1] = DOT
  let next = end > at + 2 ? end : at + 1
  bytes[next++] = 0x65
  if (exponent < 0) bytes[next++] = MINUS
  out.size = next
  putInteger(out, Math.abs(exponent))
}

/** Writes eight digits and the eight low ones; returns where they end without trailing zeros. */
function putSixteen(out: JsonBuffer, at: number, middle: number): number {
  const { bytes, view } = out
  const low = digits.low | 0
  const first = (middle / 10_000) | 0
  view.setInt32(at, QUADS[first] as number, true)
  view.setInt32(at + 4, QUADS[middle - first * 10_000] as number, true)
  const third = (low / 10_000) | 0
  view.setInt32(at + 8, QUADS[third] as number, true)
  view.setInt32(at + 12, QUADS[low - third * 10_000] as number, true)
  let end = low === 0 ? at + 8 : at + 16
  while (bytes[end - 1] === ZERO) end -= 1
  return end
}
