import { DataReader } from './data-reader.ts'
import { MAX_EXACT_POWER, POWERS_OF_TEN, scaleDecimal } from './decimal.ts'
import { COMMA, isDigit, OPEN_ARRAY, readNumber, skipExponent, skipNumber } from './json-scan.ts'

const MINUS = 0x2d
const DOT = 0x2e
const PLUS = 0x2b
const BIG_E = 0x45
const SMALL_E = 0x65
const ZERO = 0x30

/** FP32 and FP64. FP32 elements are rounded from the double, as in the original. */
export class FloatReader extends DataReader {
  readonly #out: Float32Array | Float64Array
  readonly #view: DataView
  /** The last place where four bytes can be read at once. */
  readonly #lastWord: number
  /** Digits of the number at hand as m + tail; fields of a typed array, because those never allocate. */
  readonly #digits = new Float64Array(2)

  constructor(bytes: Uint8Array, out: Float32Array | Float64Array) {
    super(bytes)
    this.#out = out
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#lastWord = bytes.length - 4
  }

  protected override isComplete(): boolean {
    return this.filled === this.#out.length
  }

  protected override run(at: number): number {
    const s = this.bytes
    const out = this.#out
    let filled = this.filled
    for (;;) {
      if (filled === out.length) return -1
      at = this.#store(at, filled)
      if (at < 0) return -1
      filled += 1
      const next = s[at + 1] === 0x20 ? at + 2 : at + 1
      const c = s[next] ?? 0
      if (s[at] !== COMMA || c <= 0x20 || c === OPEN_ARRAY) break
      at = next
    }
    this.filled = filled
    return at
  }

  #store(start: number, index: number): number {
    const s = this.bytes
    const sign = s[start] === MINUS ? -1 : 1
    let at = sign < 0 ? start + 1 : start
    let x = (s[at] ?? 0) - ZERO
    if (x < 0 || x > 9) return this.#storeSlowly(start, index)
    let d = (s[++at] ?? 0) - ZERO
    while (x !== 0 && x < 1e8 && d >= 0 && d <= 9) {
      x = x * 10 + d
      d = (s[++at] ?? 0) - ZERO
    }
    if (d === DOT - ZERO) return this.#storeFraction(sign * (x + 1), at + 1, index)
    // More digits (or a forbidden leading zero), or an exponent.
    if ((d >= 0 && d <= 9) || d === BIG_E - ZERO || d === SMALL_E - ZERO) return this.#storeSlowly(start, index)
    this.#out[index] = sign * x
    return at
  }

  /** `whole` is the part before the point plus one, so that it has a sign even where that part is zero. */
  #storeFraction(whole: number, from: number, index: number): number {
    const s = this.bytes
    const sign = whole < 0 ? -1 : 1
    const at = this.#readDigits(from, sign * whole - 1)
    if (at <= from) return this.#storeSlowly(findNumberStart(s, from), index)
    let end = at
    let e = from - at
    const c = s[at] ?? 0
    if (c === SMALL_E || c === BIG_E) {
      end = skipExponent(s, at + 1)
      e += readExponent(s, at + 1)
    }
    const m = this.#digits[0] as number
    const tail = this.#digits[1] as number
    // 15 digits are below 2^53: one exact operation, correctly rounded.
    const value = m <= 1e15 && e <= 0 && e >= -MAX_EXACT_POWER ? m / (POWERS_OF_TEN[-e] as number) : scaleDecimal(m, tail, e)
    if (value !== value) return this.#storeSlowly(findNumberStart(s, from), index)
    this.#out[index] = sign * value
    return end
  }

  /**
   * Reads the digits behind the point, four at a time, after the whole part `x`; leaves them all as m + tail.
   * Returns the position behind them, or 0 when there are too many (or too few bytes left) for this path.
   */
  #readDigits(from: number, x: number): number {
    const view = this.#view
    const last = this.#lastWord
    let at = from
    while (x < 100_000 && at <= last) {
      const word = view.getInt32(at, true)
      if (findNonDigit(word) !== 4) break
      x = (Math.imul(x, 10_000) + fourDigits(word)) | 0
      at += 4
    }
    const middle = at
    let y = 0
    for (;;) {
      if (at > last || at - middle > 12) return 0
      const word = view.getInt32(at, true)
      const count = findNonDigit(word)
      // Fewer than four digits: the others count as leading zeros.
      if (count > 0) y = y * (POWERS_OF_TEN[count] as number) + fourDigits(word << (32 - 8 * count))
      at += count
      if (count < 4) break
    }
    const a = x * (POWERS_OF_TEN[at - middle] as number)
    // Beyond 17 digits a would not be exact.
    if (!(a < 1e17)) return 0
    const m = a + y
    this.#digits[0] = m
    this.#digits[1] = y - (m - a)
    return at
  }

  #storeSlowly(at: number, index: number): number {
    const s = this.bytes
    const c = s[at] ?? 0
    if (!isDigit(c) && c !== MINUS && c !== 0x4e && c !== 0x49) return -1
    const end = skipNumber(s, at)
    this.#out[index] = readNumber(s, at, end)
    return end
  }
}

/** How many of the four bytes, from the first on, are digits. */
function findNonDigit(word: number): number {
  const wrong = ((word & 0xf0f0f0f0) | ((((word + 0x06060606) | 0) & 0xf0f0f0f0) >>> 4)) ^ 0x33333333
  return wrong === 0 ? 4 : (31 - Math.clz32(wrong & -wrong)) >> 3
}

/** The value of four digits, the first in the lowest byte; zero bytes count as digit 0. */
function fourDigits(word: number): number {
  const pairs = Math.imul(word & 0x0f0f0f0f, 10 * 256 + 1) >>> 8
  return Math.imul(pairs & 0x00ff00ff, 100 * 65536 + 1) >>> 16
}

function readExponent(s: Uint8Array, from: number): number {
  let at = from
  const negative = s[at] === MINUS
  if (negative || s[at] === PLUS) at += 1
  let e = 0
  for (; e < 1000 && isDigit(s[at] ?? 0); at += 1) e = e * 10 + (s[at] ?? 0) - ZERO
  return negative ? -e : e
}

/** Back from behind the point to the first byte of the number. */
function findNumberStart(s: Uint8Array, from: number): number {
  let at = from - 2
  while (isDigit(s[at - 1] ?? 0)) at -= 1
  return s[at - 1] === MINUS ? at - 1 : at
}
