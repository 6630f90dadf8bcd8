import { CLOSE_ARRAY, COMMA, isDigit, OPEN_ARRAY, skipSpace } from './json-scan.ts'

/** Reads an array of unsigned integers; undefined when it is anything else. The text may be unchecked. */
export function readShape(s: Uint8Array, at: number): number[] | undefined {
  if (s[at] !== OPEN_ARRAY) return undefined
  const shape: number[] = []
  at = skipSpace(s, at + 1)
  if (s[at] === CLOSE_ARRAY) return shape
  for (;;) {
    const end = findUnsignedEnd(s, at)
    if (end < 0) return undefined
    shape.push(readUnsigned(s, at, end))
    at = skipSpace(s, end)
    if (s[at] === CLOSE_ARRAY) return shape
    if (s[at] !== COMMA) return undefined
    at = skipSpace(s, at + 1)
  }
}

/** The end of an integer token within 0 … 2^64-1, or -1. */
export function findUnsignedEnd(s: Uint8Array, at: number): number {
  let end = at
  while (isDigit(s[end] ?? 0)) end += 1
  const c = s[end] ?? 0
  const digits = end - at
  if (digits === 0 || digits > 20 || c === 0x2e || c === 0x65 || c === 0x45) return -1
  return digits < 20 || fitsUnsigned64(s, at) ? end : -1
}

const MAX_UNSIGNED = '18446744073709551615'

/** Whether twenty digits are at most 2^64-1. */
function fitsUnsigned64(s: Uint8Array, at: number): boolean {
  for (let i = 0; i < 20; i += 1) {
    const difference = (s[at + i] ?? 0) - MAX_UNSIGNED.charCodeAt(i)
    if (difference !== 0) return difference < 0
  }
  return true
}

/** Exact below 2^53; above, the nearest double. */
export function readUnsigned(s: Uint8Array, at: number, end: number): number {
  let value = 0
  for (let i = at; i < end; i += 1) value = value * 10 + (s[i] ?? 0) - 0x30
  return value <= Number.MAX_SAFE_INTEGER ? value : Number(new TextDecoder().decode(s.subarray(at, end)))
}
