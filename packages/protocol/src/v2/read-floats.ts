import { DataReader } from './data-reader.ts'
import { MAX_EXACT_POWER, POWERS_OF_TEN, scaleDecimal } from './decimal.ts'
import { readDecimal } from './read-decimal.ts'
import { COMMA, isDigit, OPEN_ARRAY, readNumber, skipNumber } from './json-scan.ts'

const MINUS = 0x2d
const DOT = 0x2e
const ZERO = 0x30
const BIG_E = 0x45
const SMALL_E = 0x65

/** Size of the way station, in elements. */
const CHUNK = 1024

/**
 * FP32 and FP64. FP32 elements are rounded from the double, as in the original.
 *
 * The usual number, up to 17 digits, is read four digits at a time and never becomes a string. A byte beyond the text
 * is undefined here and fails every comparison.
 */
export class FloatReader extends DataReader {
  private readonly out: Float32Array | Float64Array
  /** Numbers on their way to `out`: always doubles, so that the reader below sees one kind of array only. */
  private readonly chunk: Float64Array
  /** Elements of `out` that have left the chunk. */
  private flushed = 0
  /** Elements that will be rounded to FP32: then a double need not be right in its last bits. */
  private readonly isSingle: boolean
  private readonly view: DataView
  /** The last place where four bytes can be read at once. */
  private readonly lastWord: number

  constructor(bytes: Uint8Array, out: Float32Array | Float64Array) {
    super(bytes)
    this.out = out
    this.chunk = out instanceof Float64Array ? out : new Float64Array(Math.min(out.length, CHUNK))
    this.isSingle = out instanceof Float32Array
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.lastWord = bytes.length - 4
  }

  protected override isComplete(): boolean {
    if (this.filled !== this.out.length) return false
    this.flush(this.filled)
    return true
  }

  private flush(filled: number): number {
    if (this.chunk !== this.out) {
      this.out.set(this.chunk.subarray(0, filled - this.flushed), this.flushed)
      this.flushed = filled
    }
    return filled
  }

  protected override run(at: number): number {
    const s = this.bytes
    const { chunk, out } = this
    // Everything the loop's end needs is at hand: what it first met there would cost it its optimised code.
    let base = this.flushed
    let index = this.filled - base
    // Pixels and the like, until a number is not like that.
    let areShort = true
    for (;;) {
      if (index === chunk.length) {
        if (base + index === out.length) return -1
        base = this.flush(base + index)
        index = 0
      }
      const short: number = areShort ? readShort(s, at) : -1
      areShort = short >= 0
      if (areShort) {
        chunk[index] = short
        at += countDigits(short)
      } else {
        const end = this.store(at, chunk, index)
        at = end < 0 ? this.storeSlowly(at, chunk, index) : end
      }
      if (at < 0) return -1
      index += 1
      this.filled = base + index
      if (s[at] !== COMMA) return at
      const next = s[at + 1] === 0x20 ? at + 2 : at + 1
      const c = s[next] as number
      if (c <= 0x20 || c === OPEN_ARRAY) return at
      at = next
    }
  }

  /**
   * One function on purpose: its values live in registers, and a call more costs a tenth of the whole reader. What it
   * calls is counted too: beyond 920 bytes of bytecode the engine stops inlining.
   * What is rare yields -1 and starts over in `storeSlowly`.
   */
  // oxlint-disable-next-line complexity, max-lines-per-function
  private store(start: number, out: Float64Array, index: number): number {
    const s = this.bytes
    const sign = s[start] === MINUS ? 1 : 0
    let at = start + sign
    let x = (s[at] as number) - ZERO
    if (!(x >= 0 && x <= 9)) return -1
    let d = (s[++at] as number) - ZERO
    if (x !== 0) {
      while (d >= 0 && d <= 9 && x < 1e8) {
        x = x * 10 + d
        d = (s[++at] as number) - ZERO
      }
    }
    if (d !== DOT - ZERO) {
      // More digits (or a forbidden leading zero), an exponent.
      if (isNumberTail(d + ZERO)) return -1
      out[index] = sign === 0 ? x : -x
      return at
    }
    const { view, lastWord } = this
    const from = ++at
    if (at > lastWord) return -1
    let word = view.getInt32(at, true)
    let wrong = markNonDigits(word)
    // x takes up to eight digits more, y the rest.
    if (wrong === 0 && x < 100_000) {
      x = (Math.imul(x, 10_000) + readFour(word)) | 0
      at += 4
      if (x < 100_000) {
        if (at > lastWord) return -1
        word = view.getInt32(at, true)
        wrong = markNonDigits(word)
        if (wrong === 0) {
          x = (Math.imul(x, 10_000) + readFour(word)) | 0
          at += 4
        }
      }
    }
    const middle = at
    let y = 0
    if (at + 4 > lastWord) return -1
    word = view.getInt32(at, true)
    wrong = markNonDigits(word)
    if (wrong === 0) {
      y = readFour(word)
      at += 4
      word = view.getInt32(at, true)
      wrong = markNonDigits(word)
      if (wrong === 0) {
        y = (Math.imul(y, 10_000) + readFour(word)) | 0
        at += 4
        if (at > lastWord) return -1
        word = view.getInt32(at, true)
        wrong = markNonDigits(word)
        if (wrong === 0) return -1
      }
    }
    const rest = (31 - Math.clz32(wrong & -wrong)) >> 3
    let low = y
    if (rest !== 0) {
      low = y * (POWERS_OF_TEN[rest] as number) + readFour(word << (32 - 8 * rest))
      at += rest
    }
    // Below 10^17 a is exact, because its part 5^n fits 53 bits; the sum is kept exact as two doubles.
    const a = x * (POWERS_OF_TEN[at - middle] as number)
    const m = a + low
    const e = from - at
    let value = m / (POWERS_OF_TEN[-e] as number)
    // 15 digits are below 2^53: that was one exact operation.
    if (this.isSingle ? isNearTie(value) : m > 1e15 || e < -MAX_EXACT_POWER) value = scaleDecimal(m, low - (m - a), e)
    d = s[at] as number
    if (!(a < 1e17) || e === 0 || value !== value || (d !== COMMA && isNumberTail(d))) return -1
    out[index] = sign === 0 ? value : -value
    return at
  }

  private storeSlowly(at: number, out: Float64Array, index: number): number {
    const s = this.bytes
    const c = s[at] ?? 0
    if (!isDigit(c) && c !== MINUS && c !== 0x4e && c !== 0x49) return -1
    const end = skipNumber(s, at)
    const value = readDecimal(s, at, end)
    out[index] = value === value ? value : readNumber(s, at, end)
    return end
  }
}

function countDigits(short: number): number {
  return short < 10 ? 1 : short < 100 ? 2 : 3
}

/** An integer of one to three digits with a comma behind it; -1 for anything else. */
function readShort(s: Uint8Array, at: number): number {
  const a = (s[at] as number) - ZERO
  if (!(a >= 0 && a <= 9)) return -1
  const b = (s[at + 1] as number) - ZERO
  if (b === COMMA - ZERO) return a
  if (!(b >= 0 && b <= 9) || a === 0) return -1
  const c = (s[at + 2] as number) - ZERO
  if (c === COMMA - ZERO) return a * 10 + b
  return c >= 0 && c <= 9 && s[at + 3] === COMMA ? a * 100 + b * 10 + c : -1
}

/** Whether a slightly wrong double (or NaN) may round to another FP32 than the right one. */
function isNearTie(value: number): boolean {
  const slack = value * 2 ** -50
  return Math.fround(value - slack) !== Math.fround(value + slack)
}

/** Sets bits in every byte that is not a digit; 0 for four digits. */
function markNonDigits(word: number): number {
  return ((word & 0xf0f0f0f0) | (((word + 0x06060606) & 0xf0f0f0f0) >>> 4)) ^ 0x33333333
}

/**
 * The value of four digits, the first in the lowest byte. Zero bytes count as the digit 0: shifting a word left puts
 * zeros before its digits and drops what is behind them.
 */
function readFour(word: number): number {
  const pairs = Math.imul(word & 0x0f0f0f0f, 10 * 256 + 1) >>> 8
  return Math.imul(pairs & 0x00ff00ff, 100 * 65536 + 1) >>> 16
}

/** A digit or an exponent: what may follow where the fast path ends. */
function isNumberTail(c: number): boolean {
  return c === SMALL_E || c === BIG_E || isDigit(c)
}
