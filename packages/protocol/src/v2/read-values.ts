import { DataReader } from './data-reader.ts'
import { QUOTE, skipString } from './json-scan.ts'
import { unescapeInto } from './json-text.ts'

/** BOOL: only the words true and false. */
export class BoolReader extends DataReader {
  readonly #out: Uint8Array

  constructor(bytes: Uint8Array, out: Uint8Array) {
    super(bytes)
    this.#out = out
  }

  protected override isComplete(): boolean {
    return this.filled === this.#out.length
  }

  protected override run(at: number): number {
    if (this.filled === this.#out.length) return -1
    const value = isWord(this.bytes, at, TRUE)
    if (!value && !isWord(this.bytes, at, FALSE)) return -1
    this.#out[this.filled] = value ? 1 : 0
    this.filled += 1
    return at + (value ? 4 : 5)
  }
}

const TRUE = 'true'
const FALSE = 'false'

function isWord(s: Uint8Array, at: number, word: string): boolean {
  for (let i = 0; i < word.length; i += 1) if (s[at + i] !== word.charCodeAt(i)) return false
  return true
}

/** BYTES: strings, each stored with its length in front. The number of elements is the core's to check. */
export class StringReader extends DataReader {
  #out: Uint8Array
  #size = 0

  constructor(bytes: Uint8Array, estimate: number) {
    super(bytes)
    this.#out = new Uint8Array(estimate)
  }

  get data(): Uint8Array {
    return this.#out.subarray(0, this.#size)
  }

  protected override isComplete(): boolean {
    return true
  }

  protected override run(at: number): number {
    if (this.bytes[at] !== QUOTE) return -1
    const end = skipString(this.bytes, at)
    const from = this.#size + 4
    this.#reserve(from + end - at)
    const size = this.#copy(at + 1, end - 1, from)
    const out = this.#out
    out[from - 4] = size
    out[from - 3] = size >>> 8
    out[from - 2] = size >>> 16
    out[from - 1] = size >>> 24
    this.#size = from + size
    this.filled += 1
    return end
  }

  /** Returns the number of bytes written. */
  #copy(from: number, to: number, target: number): number {
    const s = this.bytes
    const out = this.#out
    for (let i = from; i < to; i += 1) {
      const c = s[i] ?? 0
      if (c === 0x5c) return unescapeInto(out, target + i - from, s.subarray(i, to)) - target
      out[target + i - from] = c
    }
    return to - from
  }

  #reserve(size: number): void {
    if (size <= this.#out.length) return
    const wider = new Uint8Array(Math.max(size, this.#out.length * 2))
    wider.set(this.#out.subarray(0, this.#size))
    this.#out = wider
  }
}
