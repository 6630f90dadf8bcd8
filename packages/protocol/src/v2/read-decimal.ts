import { isDigit } from './json-scan.ts'
import { MAX_EXACT_POWER, MAX_SAFE, POWERS_OF_TEN, scaleDecimal } from './decimal.ts'

const PLUS = 0x2b
const MINUS = 0x2d
const DOT = 0x2e
const ZERO = 0x30
/** Digits of the two halves that a mantissa is read into. */
const HEAD_DIGITS = 9
const MAX_DIGITS = 17

/**
 * The value of number text (checked), of any spelling with up to 17 digits; NaN when there are more, when its last bit
 * cannot be decided here, or for the words.
 */
export function readDecimal(s: Uint8Array, start: number, end: number): number {
  const negative = s[start] === MINUS
  const from = negative ? start + 1 : start
  let scaled = 0
  let tail = 0
  /** Digits after the leading zeros. */
  let count = 0
  let point = -1
  let at = from
  for (; at < end; at += 1) {
    const d = (s[at] as number) - ZERO
    if (d === DOT - ZERO) point = at
    else if (!isDigit(d + ZERO)) break
    else if (count >= HEAD_DIGITS) tail = tail * 10 + d
    else scaled = scaled * 10 + d
    if (scaled > 0 && d !== DOT - ZERO) count += 1
  }
  if (count > MAX_DIGITS || at === from) return Number.NaN
  const decimals = point < 0 ? 0 : at - point - 1
  // Exact, since 5^8 and nine digits fit 53 bits.
  scaled *= POWERS_OF_TEN[Math.max(count - HEAD_DIGITS, 0)] as number
  const value = scale(scaled, tail, readExponent(s, at + 1, end) - decimals)
  return negative ? -value : value
}

function scale(scaled: number, tail: number, e: number): number {
  const m = scaled + tail
  if (m === 0) return 0
  if (m < MAX_SAFE && e <= 0 && e >= -MAX_EXACT_POWER) return m / (POWERS_OF_TEN[-e] as number)
  return scaleDecimal(m, tail - (m - scaled), e)
}

/** 0 where there is none; bounded where it cannot matter any more. */
function readExponent(s: Uint8Array, from: number, end: number): number {
  const negative = s[from] === MINUS
  let e = 0
  for (let at = negative || s[from] === PLUS ? from + 1 : from; at < end && e < 10_000; at += 1) {
    e = e * 10 + (s[at] as number) - ZERO
  }
  return negative ? -e : e
}
