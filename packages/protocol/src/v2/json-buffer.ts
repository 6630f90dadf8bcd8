const encoder = new TextEncoder()
const HEX = '0123456789ABCDEF'

/** Escapes of bytes below 0x60 as RapidJSON writes them; undefined = written as it is. */
const ESCAPES: readonly (string | undefined)[] = Array.from({ length: 0x60 }, (_, c) => {
  const letter = { 8: 'b', 9: 't', 10: 'n', 12: 'f', 13: 'r', 0x22: '"', 0x5c: '\\' }[c]
  if (letter !== undefined) return `\\${letter}`
  return c < 0x20 ? `\\u00${HEX[c >> 4]}${HEX[c & 15]}` : undefined
})

/** Small texts share one piece of memory: taking a part of it is far cheaper than new memory for each. Never used twice. */
const SLAB = 65_536
const SMALL = 4_096
let slab = new Uint8Array(SLAB)
let taken = 0

function takeMemory(capacity: number): Uint8Array {
  if (capacity > SMALL) return new Uint8Array(capacity)
  if (taken + capacity > SLAB) {
    slab = new Uint8Array(SLAB)
    taken = 0
  }
  const part = slab.subarray(taken, taken + capacity)
  taken += capacity
  return part
}

/** JSON text being written, in the original's dialect (reference: front door §1.3), as UTF-8 in a growing buffer. */
export class JsonBuffer {
  bytes: Uint8Array
  view: DataView
  /** Bytes used. */
  size = 0

  constructor(capacity: number) {
    this.bytes = takeMemory(capacity)
    this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length)
  }

  /** Makes room for `more` bytes; `bytes` may be another array afterwards. */
  reserve(more: number): void {
    const needed = this.size + more
    if (needed <= this.bytes.length) return
    const wider = new Uint8Array(Math.max(needed, this.bytes.length * 2))
    wider.set(this.bytes.subarray(0, this.size))
    this.bytes = wider
    this.view = new DataView(wider.buffer)
  }

  finish(): Uint8Array {
    return this.bytes.subarray(0, this.size)
  }

  /** ASCII text that needs no escape: punctuation, names of members, numbers. */
  ascii(text: string): void {
    this.reserve(text.length)
    const bytes = this.bytes
    let at = this.size
    for (let i = 0; i < text.length; i += 1) bytes[at++] = text.charCodeAt(i)
    this.size = at
  }

  byte(c: number): void {
    this.reserve(1)
    this.bytes[this.size++] = c
  }

  /** A string with its quotes. Lone surrogates become U+FFFD. */
  text(value: string): void {
    // Worst cases: a control character takes six bytes, any other UTF-16 unit three.
    this.reserve(value.length * 6 + 2)
    const bytes = this.bytes
    let at = this.size
    bytes[at++] = 0x22
    for (let i = 0; i < value.length; i += 1) {
      const c = value.charCodeAt(i)
      if (c >= 0x80 || (c < 0x60 && ESCAPES[c] !== undefined)) {
        this.utf8(encoder.encode(value))
        return
      }
      bytes[at++] = c
    }
    bytes[at++] = 0x22
    this.size = at
  }

  /** A string given as bytes, which are passed on unchecked, as in the original. */
  utf8(value: Uint8Array): void {
    this.reserve(value.length * 6 + 2)
    const bytes = this.bytes
    let at = this.size
    bytes[at++] = 0x22
    for (let i = 0; i < value.length; i += 1) {
      const c = value[i] ?? 0
      const escape = c < 0x60 ? ESCAPES[c] : undefined
      if (escape === undefined) bytes[at++] = c
      else for (let k = 0; k < escape.length; k += 1) bytes[at++] = escape.charCodeAt(k)
    }
    bytes[at++] = 0x22
    this.size = at
  }
}
