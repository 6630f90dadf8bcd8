import { SPLITTER } from './decimal.ts'
import { choosePower } from './grisu.ts'

/**
 * The digits of `generateDigits` (grisu.ts) without bigints.
 *
 * The 64-bit integers of Grisu2 lie so close together that one double p and three small offsets hold them: the value
 * is p + center, the range of doubles that read back as it is p + lower … p + upper. Scaled by 10^m that range is 2 to
 * 45 units wide at 17 or 18 digits, so the digits end in a multiple of 100, of 10 or of 1. Products are exact as pairs
 * of doubles; where a sum may have been rounded (error below 1e-7 units) and that matters, the answer is "undecided".
 */
const STRIDE = 8
/**
 * Per biased binary exponent: the cached power as high + low and high split in two, half a unit in the last place;
 * then the factor to 17 digits and its halves.
 */
const TABLE = new Float64Array(2048 * STRIDE)
const UNSET = -1
/** Per biased exponent: m, the decimals behind the binary point at 17 digits; and the power of ten left out. */
const PLACES = new Int16Array(2048).fill(UNSET)
const SCALES = new Int16Array(2048)
/** Beyond 2^±300 (and for subnormals) the slow way is taken. */
const MIN_BIASED = 1023 - 300
const MAX_BIASED = 1023 + 300
const UNCERTAIN = 1e-6
/** With this many digits behind the binary point, or more, the original does not round. */
const ROUNDED_PLACES = 9

const float = new Float64Array(1)
const words = new Int32Array(float.buffer)

/** The digits are high·10^8 + low, to be multiplied by 10^-scale; trailing zeros included. */
export const digits = { high: 0, low: 0, scale: 0 }
/** Whether the sums at hand were not rounded. */
let isExact = false
/** Decimals behind the binary point at 17 digits. */
let places = 0

function prepare(biased: number): void {
  const e = biased - 1075
  const { power, exponent } = choosePower(e - 11)
  const shift = e - 11 + power.e + 64
  const unit = 2 ** (-53 - e)
  const high = Number(power.f)
  const low = Number(power.f - BigInt(high))
  // The smallest value with this exponent, as a number with a binary point.
  const least = (high / 2) * 2 ** shift
  const log = Math.floor(Math.log10(least))
  const m = 16 - (10 ** (log + 1) <= least ? log + 1 : 10 ** log > least ? log - 1 : log)
  const factor = 2 ** shift * 10 ** m
  const [top, bottom] = split(high * unit)
  TABLE.set([high * unit, low * unit, top, bottom, high * 2 ** -54, factor, ...split(factor)], biased * STRIDE)
  SCALES[biased] = m + exponent
  PLACES[biased] = m
}

function split(value: number): [number, number] {
  const c = value * SPLITTER
  const top = c - (c - value)
  return [top, value - top]
}

/** Finds the digits of a positive double; false when undecided. */
export function findDigits(x: number): boolean {
  float[0] = x
  const high = words[1] as number
  const biased = (high >>> 20) & 0x7ff
  if (biased < MIN_BIASED || biased > MAX_BIASED) return false
  if (PLACES[biased] === UNSET) prepare(biased)
  const at = biased * STRIDE
  const top = TABLE[at + 2] as number
  const bottom = TABLE[at + 3] as number
  // p + tail = x times the cached power: the value in 64 bits, not yet rounded.
  const p = x * (TABLE[at] as number)
  const c = x * SPLITTER
  const xTop = c - (c - x)
  const xBottom = x - xTop
  const tail = xBottom * bottom - (p - xTop * top - xBottom * top - xTop * bottom) + x * (TABLE[at + 1] as number)
  const half = TABLE[at + 4] as number
  const center = Math.floor(tail + 0.5)
  const upper = Math.floor(tail + half + 0.5) - 1
  // Below a power of two the neighbour is only half as far away.
  const isPower = (high & 0xfffff) === 0 && words[0] === 0
  const lower = Math.floor(tail - (isPower ? half * 0.5 : half) + 0.5) + 1

  // The same in units of the last of 17 digits: q + rest of it, both exact.
  const factor = TABLE[at + 5] as number
  const pc = p * SPLITTER
  const pTop = pc - (pc - p)
  const pBottom = p - pTop
  const factorTop = TABLE[at + 6] as number
  const factorBottom = TABLE[at + 7] as number
  const q = p * factor
  const error = pBottom * factorBottom - (q - pTop * factorTop - pBottom * factorTop - pTop * factorBottom)
  digits.high = Math.floor(q * 1e-8)
  digits.scale = SCALES[biased] as number
  const whole = q - digits.high * 1e8
  const offset = error + center * factor
  const rest = whole + offset
  isExact = rest - whole === offset && offset - error === center * factor
  places = PLACES[biased] as number
  return cutLow(rest, (upper - center) * factor, isPower ? (lower - upper) * factor : (upper - lower) * factor)
}

/**
 * Cuts the low part to as few digits as the range allows: from rest + up downwards, `width` wide (negative for a power
 * of two, whose range is not centred).
 */
function cutLow(rest: number, up: number, width: number): boolean {
  const top = rest + up
  const reach = Math.abs(width)
  const hundreds = Math.floor(top / 100) * 100
  const left = top - hundreds
  if (isUncertain(left, 100) || isUncertain(left - reach, Infinity)) return false
  if (left < reach) return carry(hundreds)
  const tens = Math.floor(top / 10) * 10
  const few = top - tens
  if (isUncertain(few, 10) || isUncertain(few - reach, Infinity)) return false
  if (few < reach) return places > ROUNDED_PLACES ? carry(tens) : width > 0 && roundTo(rest, 10)
  const units = Math.floor(top)
  if (isUncertain(top - units, 1)) return false
  return places >= ROUNDED_PLACES ? carry(units) : width > 0 && roundTo(rest, 1)
}

/** Whether rounding may have moved `value` across 0 or `period`. */
function isUncertain(value: number, period: number): boolean {
  if (isExact) return value === 0 && period === Infinity
  return Math.abs(value) < UNCERTAIN || value > period - UNCERTAIN
}

/** The nearest multiple of `unit`; the upper one of two. */
function roundTo(rest: number, unit: number): boolean {
  const low = Math.floor(rest / unit + 0.5) * unit
  return !isUncertain(Math.abs(rest - low) - unit / 2, unit) && carry(low)
}

/** Keeps the low part within eight digits. */
function carry(low: number): boolean {
  if (low < 0) {
    digits.high -= 1
    digits.low = low + 1e8
  } else if (low >= 1e8) {
    digits.high += 1
    digits.low = low - 1e8
  } else digits.low = low
  return true
}
