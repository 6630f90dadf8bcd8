import { MAX_EXACT_POWER, splitPowerOfTen, SPLITTER } from './decimal.ts'

/**
 * The shortest decimal digits that read back as the same double, as ECMAScript defines them, without strings.
 *
 * A double is scaled by a power of ten to a 17- or 18-digit number in double-double arithmetic. Its neighbours are
 * then 2 to 45 units away, so the shortest digits end in a multiple of 100, of 10 or of 1. Wherever rounding error
 * (below 1e-7 units) could change the choice, the answer is "undecided" and the caller asks `String`.
 */
const STRIDE = 5
/** Per binary exponent: the power of ten as high + low, high split in two, half a unit in the last place, scaled. */
const SCALES = new Float64Array(2048 * STRIDE)
const UNSET = 0x7fff
/** Per binary exponent: the power of ten's exponent. */
const POWERS = new Int16Array(2048).fill(UNSET)
/** Binary exponents beyond 2^±300 are left to `String`. */
const MIN_BIASED = 1023 - 300
const MAX_BIASED = 1023 + 300
const UNCERTAIN = 1e-5

const float = new Float64Array(1)
const words = new Int32Array(float.buffer)

/** The digits are high·10^8 + low, to be multiplied by 10^-scale; trailing zeros included. */
export const digits = { high: 0, low: 0, scale: 0 }

function prepareScale(biased: number): void {
  const exponent = biased - 1023
  const power = 16 - Math.floor(exponent * Math.LOG10E * Math.LN2)
  const [high, low] = splitPowerOfTen(power)
  const c = high * SPLITTER
  const top = c - (c - high)
  SCALES.set([high, low, top, high - top, 2 ** (exponent - 53) * high], biased * STRIDE)
  POWERS[biased] = power
}

/** Finds the digits of a positive double; false when undecided. */
export function findShortest(x: number): boolean {
  float[0] = x
  const biased = ((words[1] as number) >>> 20) & 0x7ff
  if (biased < MIN_BIASED || biased > MAX_BIASED) return false
  if (POWERS[biased] === UNSET) prepareScale(biased)
  const scale = biased * STRIDE
  const top = SCALES[scale + 2] as number
  const bottom = SCALES[scale + 3] as number
  // p + tail = x·10^power.
  const p = x * (SCALES[scale] as number)
  const c = x * SPLITTER
  const xTop = c - (c - x)
  const xBottom = x - xTop
  const tail = xBottom * bottom - (p - xTop * top - xBottom * top - xTop * bottom) + x * (SCALES[scale + 1] as number)
  const high = Math.floor(p * 1e-8)
  const whole = p - high * 1e8
  digits.high = high
  digits.scale = POWERS[biased] as number
  // Below a power of two the neighbour is only half as far away.
  const isPower = ((words[1] as number) & 0xfffff) === 0 && words[0] === 0
  const half = SCALES[scale + 4] as number
  return roundShortest(whole, tail, isPower ? -half : half)
}

/** Rounds the low part to the fewest digits within ±half; a negative half marks a power of two. */
function roundShortest(whole: number, tail: number, half: number): boolean {
  const rest = whole + tail
  const reach = half < 0 ? half * -0.5 : half
  let low = Math.round(rest * 0.01) * 100
  const distance = Math.abs(rest - low)
  if (distance <= reach - UNCERTAIN) return carry(low)
  if (half < 0 || distance < reach + UNCERTAIN) return false
  low = Math.round(rest * 0.1) * 10
  const near = Math.abs(rest - low)
  if (near > 5 - UNCERTAIN && reach > 5) return near === 5 && rest - whole === tail && roundTie(rest)
  if (near <= reach - UNCERTAIN) return carry(low)
  return near >= reach + UNCERTAIN && roundToUnit(rest)
}

/** Halfway between two multiples of ten: the even one, provided the power of ten was exact. */
function roundTie(rest: number): boolean {
  if (digits.scale > MAX_EXACT_POWER || digits.scale < 0) return false
  return carry(rest + ((rest - 5) % 20 === 0 ? -5 : 5))
}

function roundToUnit(rest: number): boolean {
  const low = Math.round(rest)
  return Math.abs(rest - low) <= 0.5 - UNCERTAIN && carry(low)
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
