const floats = new Float32Array(1)
const bits = new Uint32Array(floats.buffer)

/** The value of an IEEE half (FP16) bit pattern. */
export function halfToNumber(half: number): number {
  const sign = (half & 0x8000) === 0 ? 1 : -1
  const exponent = (half >> 10) & 0x1f
  const fraction = half & 0x3ff
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : Number.NaN
  return sign * (fraction + 1024) * 2 ** (exponent - 25)
}

/** The nearest half, ties to even; too large becomes an infinity. Rounds once, from the double. */
export function numberToHalf(value: number): number {
  if (Number.isNaN(value)) return 0x7e00
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
  const size = Math.abs(value)
  if (size >= 65520) return sign | 0x7c00
  if (size < 2 ** -14) return sign | roundToEven(size * 2 ** 24)
  const exponent = Math.floor(Math.log2(size))
  // log2 may round up to the next integer just below a power of two.
  const scale = 2 ** exponent > size ? exponent - 1 : exponent
  return sign | (roundToEven((size / 2 ** scale - 1) * 1024) + ((scale + 15) << 10))
}

/** The value of a BF16 bit pattern: the upper half of an FP32. */
export function bfloatToNumber(bfloat: number): number {
  bits[0] = bfloat << 16
  return floats[0] ?? 0
}

/** The nearest BF16 of the number's FP32, ties to even; NaN stays NaN. */
export function numberToBfloat(value: number): number {
  floats[0] = value
  const word = bits[0] ?? 0
  if (Number.isNaN(value)) return (word >>> 16) | 0x40
  return (word + 0x7fff + ((word >>> 16) & 1)) >>> 16
}

function roundToEven(value: number): number {
  const floor = Math.floor(value)
  const rest = value - floor
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor
}
