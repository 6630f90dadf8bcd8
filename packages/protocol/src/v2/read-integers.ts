import { DataReader } from './data-reader.ts'
import { COMMA, isDigit, OPEN_ARRAY } from './json-scan.ts'

const MINUS = 0x2d
const ZERO = 0x30
const TWO_32 = 2 ** 32
/** Digits of 2^64 - 1. */
const MAX_DIGITS = 20

type Integers = Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array

/** False for NaN too, which stands for the end of the text. */
function isFirstDigit(x: number): boolean {
  return x >= 0 && x <= 9
}

/** What follows an integer when the token was not an integer after all: more digits, a point or an exponent. */
function isNumberTail(c: number): boolean {
  return isDigit(c) || c === 0x2e || c === 0x65 || c === 0x45
}

/**
 * INT8 … UINT64. As in the original, values are first read as 64-bit integers (of the right signedness) and then cut
 * to the width of the datatype.
 */
export class IntegerReader extends DataReader {
  readonly #signed: boolean
  /** 8-byte elements are stored as two 32-bit words, low word first. */
  readonly #wide: boolean
  readonly #out: Integers
  readonly #count: number
  #low = 0
  #high = 0

  constructor(bytes: Uint8Array, out: Integers | BigInt64Array | BigUint64Array) {
    super(bytes)
    this.#wide = out instanceof BigInt64Array || out instanceof BigUint64Array
    this.#signed = !(
      out instanceof Uint8Array ||
      out instanceof Uint16Array ||
      out instanceof Uint32Array ||
      out instanceof BigUint64Array
    )
    this.#count = out.length
    this.#out = this.#wide ? new Uint32Array(out.buffer, out.byteOffset, out.length * 2) : (out as Integers)
  }

  protected override isComplete(): boolean {
    return this.filled === this.#count
  }

  protected override run(at: number): number {
    const s = this.bytes
    let filled = this.filled
    for (;;) {
      if (filled === this.#count) return -1
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
    const negative = s[start] === MINUS
    const from = negative ? start + 1 : start
    let at = from
    let x = (s[at] as number) - ZERO
    if (!isFirstDigit(x) || (negative && !this.#signed)) return -1
    let d = (s[++at] as number) - ZERO
    while (x !== 0 && x < 1e8 && d >= 0 && d <= 9) {
      x = x * 10 + d
      d = (s[++at] as number) - ZERO
    }
    if (isNumberTail(d + ZERO)) return x < 1e8 ? -1 : this.#storeLong(from, index)
    this.#low = x
    this.#high = 0
    this.#put(negative, index)
    return at
  }

  #put(negative: boolean, index: number): void {
    if (this.#wide) this.#storeWords(negative, index)
    else this.#out[index] = negative ? -this.#low : this.#low
  }

  /** More than nine digits. */
  #storeLong(from: number, index: number): number {
    const s = this.bytes
    let at = from
    while (isDigit(s[at] ?? 0)) at += 1
    if (isNumberTail(s[at] ?? 0) || at - from > MAX_DIGITS) return -1
    const negative = s[from - 1] === MINUS
    if (!this.#readWords(from, at) || !this.#isInRange(negative)) return -1
    this.#put(negative, index)
    return at
  }

  /** Digits → two unsigned words; false beyond 2^64 - 1. */
  #readWords(from: number, to: number): boolean {
    const s = this.bytes
    let top = 0
    let low = 0
    for (let i = from; i < to - 9; i += 1) top = top * 10 + (s[i] ?? 0) - ZERO
    for (let i = to - 9; i < to; i += 1) low = low * 10 + (s[i] ?? 0) - ZERO
    // top·10^9 + low with top < 10^11, in steps below 2^53: units of 2^16 and the rest.
    const upper = Math.floor(top / 65536) * 1e9
    const rest = (top % 65536) * 1e9 + low
    const units = upper + Math.floor(rest / 65536)
    this.#low = ((units % 65536) * 65536 + (rest % 65536)) >>> 0
    this.#high = Math.floor(units / 65536)
    return this.#high < TWO_32
  }

  #isInRange(negative: boolean): boolean {
    if (!this.#signed || this.#high < 2 ** 31) return true
    return negative && this.#high === 2 ** 31 && this.#low === 0
  }

  #storeWords(negative: boolean, index: number): void {
    const out = this.#out
    if (!negative) {
      out[index * 2] = this.#low
      out[index * 2 + 1] = this.#high
      return
    }
    // Two's complement.
    out[index * 2] = -this.#low
    out[index * 2 + 1] = ~this.#high + (this.#low === 0 ? 1 : 0)
  }
}
