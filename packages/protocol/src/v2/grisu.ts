/**
 * The digits that the original prints for a double: Grisu2 as RapidJSON 1.1.0 has it, 64-bit arithmetic and all. They
 * read back as the same double and are the shortest such digits, but not always the nearest: with nine or more digits
 * behind its binary point that version forgets to round, so 0.2 as FP32 is 0.20000000298023225, not …224.
 *
 * This is the definition, by bigint; `findDigits` in write-digits.ts gives the same digits fast.
 */
export interface Digits {
  readonly text: string
  /** The value is text·10^exponent. */
  readonly exponent: number
}

interface Float {
  readonly f: bigint
  readonly e: number
}

const MASK = 2n ** 64n - 1n
const HIDDEN = 2n ** 52n
const bits = new DataView(new ArrayBuffer(8))

/** 10^(8·i - 348), 64 bits, rounded; the decimal exponent is chosen so that products have -60 ≤ e ≤ -32. */
export function choosePower(e: number): { readonly power: Float; readonly exponent: number } {
  const dk = (-61 - e) * 0.30102999566398114 + 347
  const exponent = -348 + 8 * ((Math.ceil(dk) >> 3) + 1)
  return { power: roundPower(exponent), exponent }
}

function roundPower(exponent: number): Float {
  const [top, bottom] = exponent >= 0 ? [10n ** BigInt(exponent), 1n] : [1n, 10n ** BigInt(-exponent)]
  // One bit more than needed, for rounding.
  const e = top.toString(2).length - bottom.toString(2).length - 66
  let f = e >= 0 ? top / (bottom << BigInt(e)) : (top << BigInt(-e)) / bottom
  let shift = 0
  while (f >= 2n ** 65n) {
    f >>= 1n
    shift += 1
  }
  f = (f + 1n) >> 1n
  return f > MASK ? { f: f >> 1n, e: e + shift + 2 } : { f, e: e + shift + 1 }
}

function multiply(a: Float, b: Float): Float {
  const product = a.f * b.f
  return { f: (product >> 64n) + ((product >> 63n) & 1n), e: a.e + b.e + 64 }
}

function normalize({ f, e }: Float): Float {
  const shift = 64 - f.toString(2).length
  return { f: f << BigInt(shift), e: e - shift }
}

function decompose(value: number): Float {
  bits.setFloat64(0, value)
  const word = bits.getBigUint64(0)
  const biased = Number((word >> 52n) & 0x7ffn)
  const fraction = word & (HIDDEN - 1n)
  return biased === 0 ? { f: fraction, e: -1074 } : { f: fraction | HIDDEN, e: biased - 1075 }
}

/** The digits of a positive, finite double. */
export function generateDigits(value: number): Digits {
  const v = decompose(value)
  const above = normalize({ f: v.f * 2n + 1n, e: v.e - 1 })
  const low = v.f === HIDDEN ? { f: v.f * 4n - 1n, e: v.e - 2 } : { f: v.f * 2n - 1n, e: v.e - 1 }
  const below = { f: low.f << BigInt(low.e - above.e), e: above.e }
  const { power, exponent } = choosePower(above.e)
  const w = multiply(normalize(v), power)
  const upper = multiply(above, power)
  const high = upper.f - 1n
  const delta = high - (multiply(below, power).f + 1n)
  return cutDigits({ high, delta, center: w.f, shift: BigInt(-upper.e) }, -exponent)
}

interface Range {
  readonly high: bigint
  /** Width of the range of doubles that read back as the value. */
  readonly delta: bigint
  readonly center: bigint
  /** Bits behind the binary point. */
  readonly shift: bigint
}

/** Drops decimals of the upper end of the range as long as the rest stays within it. */
function cutDigits(range: Range, exponent: number): Digits {
  const { high, delta, center, shift } = range
  const whole = String(high >> shift)
  for (let kept = 1; ; kept += 1) {
    // Position of the last digit kept, relative to the decimal point.
    const place = whole.length - kept
    const scale = place < 0 ? 10n ** BigInt(-place) : 1n
    const unit = (place < 0 ? 1n : 10n ** BigInt(place)) << shift
    const rest = (high * scale) % unit
    const fits = place < 0 ? rest < delta * scale : rest <= delta
    if (!fits) continue
    const distance = -place < 9 ? (high - center) * scale : 0n
    const steps = countSteps({ rest, delta: delta * scale, unit, distance })
    return { text: String((high * scale) / unit - steps), exponent: exponent + place }
  }
}

/** How often the last digit is lowered to come nearer to the value. */
function countSteps(range: { rest: bigint; delta: bigint; unit: bigint; distance: bigint }): bigint {
  const { delta, unit, distance } = range
  let { rest } = range
  let steps = 0n
  while (
    rest < distance &&
    delta - rest >= unit &&
    (rest + unit < distance || distance - rest > rest + unit - distance)
  ) {
    steps += 1n
    rest += unit
  }
  return steps
}
