/**
 * Decimal digits → the nearest double, without strings.
 *
 * Mantissas up to 2^53 with a small exponent are one exact operation (Clinger). Longer ones, up to 17 digits, are
 * multiplied by the power of ten in double-double arithmetic (106 bits); where that cannot decide the last bit, the
 * caller asks `Number`.
 */
export const MAX_EXACT_POWER = 22
/** 1, 10, … 1e22: the powers of ten that are doubles themselves. */
export const POWERS_OF_TEN = Float64Array.from({ length: MAX_EXACT_POWER + 1 }, (_, k) => Number(`1e${k}`))

export const MAX_SAFE = 2 ** 53
/** Splits a double into two halves of 26 bits (Dekker). */
export const SPLITTER = 2 ** 27 + 1
/** Exponents covered by the double-double tables; FP32 needs -62 … 38. */
const RANGE = 80

const HIGH = new Float64Array(2 * RANGE + 1)
const LOW = new Float64Array(2 * RANGE + 1)
const HIGH_TOP = new Float64Array(2 * RANGE + 1)
const HIGH_TAIL = new Float64Array(2 * RANGE + 1)

/** 10^e as an unevaluated sum of two doubles. */
export function splitPowerOfTen(e: number): readonly [number, number] {
  const high = Number(`1e${e}`)
  if (e >= 0) return [high, Number(10n ** BigInt(e) - BigInt(high))]
  const power = 10n ** BigInt(-e)
  // high·2^1074 is an integer; what is missing to 10^e is measured in the same unit.
  const missing = (1n << 1074n) - scaleToInteger(high) * power
  return [high, scaleDown(Number(missing / power), 1074)]
}

function scaleToInteger(value: number): bigint {
  const bits = new DataView(new ArrayBuffer(8))
  bits.setFloat64(0, value)
  const word = bits.getBigUint64(0)
  const exponent = word >> 52n
  const mantissa = word & ((1n << 52n) - 1n)
  return exponent === 0n ? mantissa : (mantissa | (1n << 52n)) << (exponent - 1n)
}

function scaleDown(value: number, power: number): number {
  let result = value
  for (let left = power; left > 0; left -= 512) result *= 2 ** -Math.min(left, 512)
  return result
}

for (let e = -RANGE; e <= RANGE; e += 1) {
  const [high, low] = splitPowerOfTen(e)
  const c = high * SPLITTER
  const top = c - (c - high)
  HIGH[e + RANGE] = high
  LOW[e + RANGE] = low
  HIGH_TOP[e + RANGE] = top
  HIGH_TAIL[e + RANGE] = high - top
}

/**
 * The double nearest to (s + tail)·10^e, or NaN when it is too close to call or out of range.
 * Expects 0 < s < 2^57, |tail| ≤ half an ulp of s.
 */
export function scaleDecimal(s: number, tail: number, e: number): number {
  const i = e + RANGE
  if (i < 0 || i > 2 * RANGE) return Number.NaN
  const high = HIGH[i] as number
  const top = HIGH_TOP[i] as number
  const bottom = HIGH_TAIL[i] as number
  const p = s * high
  const c = s * SPLITTER
  const sTop = c - (c - s)
  const sBottom = s - sTop
  // Dekker: s·high = p + error exactly.
  const error = sBottom * bottom - (p - sTop * top - sBottom * top - sTop * bottom)
  const low = error + (s * (LOW[i] as number) + tail * high)
  const slack = p * 2 ** -98
  const result = p + (low + slack)
  return result === p + (low - slack) ? result : Number.NaN
}
