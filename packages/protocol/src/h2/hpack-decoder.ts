import { decodeHuffman } from './huffman.ts'
import { STATIC_NAMES, STATIC_SIZE, STATIC_VALUES } from './static-table.ts'

/** What an entry costs besides its letters (RFC 7541 §4.1). */
const OVERHEAD = 32
/** The size that both sides begin with; we never announce another one. */
const TABLE_SIZE = 4_096

/** A header block that cannot be decoded. The connection cannot go on: both sides' tables differ from here. */
export class HpackError extends Error {
  override readonly name = 'HpackError'
}

/** Header fields as they came: name, value, name, value … one byte a letter. */
export type HeaderList = readonly string[]

/**
 * Decodes the header blocks of one connection, in order (RFC 7541). Lists longer than `maxListSize` (letters + 32 a field) are decoded to their
 * end, so that the table stays in step, and come back undefined.
 */
export class HpackDecoder {
  readonly #maxListSize: number
  /** Dynamic entries, the newest last; those before `#first` are evicted. */
  #names: string[] = []
  #values: string[] = []
  #first = 0
  #size = 0
  #limit = TABLE_SIZE
  #at = 0
  /** The block at hand changed the table. */
  #changed = false
  /** The last block that left the table as it was, and what it said: clients send the same again and again. */
  #knownBlock: Uint8Array | undefined = undefined
  #knownList: HeaderList = []

  constructor(maxListSize: number) {
    this.#maxListSize = maxListSize
  }

  decode(block: Uint8Array): HeaderList | undefined {
    if (this.#knownBlock !== undefined && isEqual(this.#knownBlock, block)) return this.#knownList
    const list: string[] = []
    this.#at = 0
    this.#changed = false
    while (((block[this.#at] ?? 0) & 0xe0) === 0x20) this.#resize(this.#integer(block, 5))
    let listSize = 0
    while (this.#at < block.length) {
      const [name, value] = this.#field(block)
      listSize += name.length + value.length + OVERHEAD
      if (listSize <= this.#maxListSize) list.push(name, value)
    }
    if (this.#changed) this.#knownBlock = undefined
    if (listSize > this.#maxListSize) return undefined
    if (!this.#changed) this.#remember(block, list)
    return list
  }

  #field(block: Uint8Array): [name: string, value: string] {
    const byte = block[this.#at] ?? 0
    if (byte >= 0x80) {
      const index = this.#integer(block, 7)
      if (index === 0) fail('index 0')
      return [this.#name(index), this.#value(index)]
    }
    const incremental = byte >= 0x40
    if (!incremental && byte >= 0x20) fail('a table size in the middle of a block')
    const index = this.#integer(block, incremental ? 6 : 4)
    const name = index === 0 ? this.#text(block) : this.#name(index)
    const value = this.#text(block)
    if (incremental) this.#add(name, value)
    return [name, value]
  }

  #remember(block: Uint8Array, list: HeaderList): void {
    if (block.length > 256) return
    this.#knownBlock = block.slice()
    this.#knownList = list
  }

  #name(index: number): string {
    if (index <= STATIC_SIZE) return STATIC_NAMES[index] ?? ''
    return this.#names[this.#place(index)] ?? fail(`index ${index}`)
  }

  #value(index: number): string {
    if (index <= STATIC_SIZE) return STATIC_VALUES[index] ?? ''
    return this.#values[this.#place(index)] ?? fail(`index ${index}`)
  }

  #place(index: number): number {
    const place = this.#names.length - (index - STATIC_SIZE)
    return place < this.#first ? -1 : place
  }

  #add(name: string, value: string): void {
    this.#changed = true
    this.#names.push(name)
    this.#values.push(value)
    this.#size += name.length + value.length + OVERHEAD
    this.#evict()
  }

  #resize(limit: number): void {
    if (limit > TABLE_SIZE) fail(`a table of ${limit} bytes`)
    this.#changed = true
    this.#limit = limit
    this.#evict()
  }

  #evict(): void {
    while (this.#size > this.#limit) {
      this.#size -= (this.#names[this.#first]?.length ?? 0) + (this.#values[this.#first]?.length ?? 0) + OVERHEAD
      this.#first += 1
    }
    if (this.#first < 256) return
    this.#names = this.#names.slice(this.#first)
    this.#values = this.#values.slice(this.#first)
    this.#first = 0
  }

  #integer(block: Uint8Array, bits: number): number {
    const most = (1 << bits) - 1
    let value = (block[this.#at] ?? 0) & most
    this.#at += 1
    if (value < most) return value
    for (let scale = 1; scale <= 128 ** 4; scale *= 128) {
      if (this.#at >= block.length) break
      const byte = block[this.#at] ?? 0
      this.#at += 1
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
    return fail('a number does not end')
  }

  #text(block: Uint8Array): string {
    if (this.#at >= block.length) fail('a text is missing')
    const huffman = (block[this.#at] ?? 0) >= 0x80
    const size = this.#integer(block, 7)
    const start = this.#at
    if (size > block.length - start) fail('a text is cut off')
    this.#at = start + size
    if (huffman) return decodeHuffman(block, start, this.#at) ?? fail('a text is badly compressed')
    let text = ''
    for (let at = start; at < this.#at; at += 1) text += String.fromCharCode(block[at] ?? 0)
    return text
  }
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false
  return true
}

function fail(what: string): never {
  throw new HpackError(`a header block is broken: ${what}`)
}
