import { addressOf } from './library.ts'
import type { Pointer } from './library.ts'

/** A C array of C strings in memory of ours, valid as long as this object is referenced. */
export class CStrings {
  readonly count: number
  readonly pointers: BigUint64Array
  readonly #texts: readonly Uint8Array[]

  constructor(texts: readonly string[]) {
    this.count = texts.length
    this.#texts = texts.map(encodeText)
    // One place more than needed: the address of an empty array would be null.
    this.pointers = new BigUint64Array(new ArrayBuffer(8 * (texts.length + 1)))
    for (const [index, text] of this.#texts.entries()) this.pointers[index] = addressOf(text)
  }

  get address(): Pointer {
    return addressOf(this.pointers)
  }

  /** Address of one text. */
  at(index: number): Pointer {
    const text = this.#texts[index]
    if (text === undefined) throw new RangeError(`no text at ${index}`)
    return addressOf(text)
  }
}

function encodeText(text: string): Uint8Array {
  const size = Buffer.byteLength(text)
  const bytes = Buffer.from(new ArrayBuffer(size + 1))
  bytes.write(text, 'utf8')
  return bytes
}
