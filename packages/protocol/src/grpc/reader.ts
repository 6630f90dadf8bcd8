import { ConchError } from '../status.ts'

export const VARINT = 0
export const FIXED64 = 1
export const BYTES = 2
export const FIXED32 = 5

const UTF8 = new TextDecoder('utf-8', { fatal: true })
/** Texts up to this many bytes are cheaper read letter by letter than by a decoder. */
const SHORT = 32

/**
 * Reads protobuf's wire format from a view, without copying. Every length is checked against the bytes that are there;
 * nothing is allocated from a claimed size. Throws INTERNAL for what is no message, as the original's parser refuses it.
 */
export class ProtoReader {
  readonly #bytes: Uint8Array
  readonly #end: number
  #at: number

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.#bytes = bytes
    this.#at = start
    this.#end = end
  }

  get at(): number {
    return this.#at
  }

  /** Bytes that were not read yet. */
  get left(): number {
    return this.#end - this.#at
  }

  get done(): boolean {
    return this.#at >= this.#end
  }

  /** `field number × 8 + wire type`. */
  tag(): number {
    const first = this.#bytes[this.#at] ?? 0
    if (first < 0x80 && this.#at < this.#end) {
      this.#at += 1
      if (first < 8) refuse('a field has number 0')
      return first
    }
    const tag = this.varint()
    if (tag < 8 || tag > 0xffffffff) refuse('a field has an impossible number')
    return tag
  }

  /** An unsigned number; exact up to 2^53, which no length or enumeration passes. */
  varint(): number {
    const bytes = this.#bytes
    let value = 0
    let scale = 1
    for (let at = this.#at; at < this.#end; at += 1) {
      const byte = bytes[at] ?? 0
      value += (byte & 0x7f) * scale
      if (byte < 0x80) {
        this.#at = at + 1
        return value
      }
      scale *= 128
      if (at - this.#at >= 9) break
    }
    refuse('a number does not end')
  }

  /** 64 bits, as protobuf's int64 (`signed`) or uint64 reads them. */
  big(signed: boolean): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      if (this.#at >= this.#end) break
      const byte = this.#bytes[this.#at] ?? 0
      this.#at += 1
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return signed ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value)
    }
    refuse('a number does not end')
  }

  /** An int64 that is a count or a dimension: a number; beyond 2^53 it is the nearest one. */
  int64(): number {
    const first = this.#bytes[this.#at] ?? 0
    if (first < 0x80 && this.#at < this.#end) {
      this.#at += 1
      return first
    }
    return Number(this.big(true))
  }

  bool(): boolean {
    return this.big(false) !== 0n
  }

  int32(): number {
    return Number(BigInt.asIntN(32, this.big(false)))
  }

  fixed32(): DataView {
    return this.#fixed(4)
  }

  fixed64(): DataView {
    return this.#fixed(8)
  }

  bytes(): Uint8Array {
    const size = this.varint()
    const start = this.#at
    if (size > this.#end - start) refuse(`${size} bytes are announced and ${this.#end - start} left`)
    this.#at = start + size
    return new Uint8Array(this.#bytes.buffer, this.#bytes.byteOffset + start, size)
  }

  string(): string {
    const size = this.varint()
    const start = this.#at
    if (size > this.#end - start) refuse(`${size} bytes are announced and ${this.#end - start} left`)
    this.#at = start + size
    return readText(this.#bytes, start, start + size)
  }

  /** A message inside this one. */
  message(): ProtoReader {
    const size = this.varint()
    const start = this.#at
    if (size > this.#end - start) refuse(`${size} bytes are announced and ${this.#end - start} left`)
    this.#at = start + size
    return new ProtoReader(this.#bytes, start, start + size)
  }

  /** Leaves out a field that this schema does not have. Groups, which proto3 has not, are refused. */
  skip(tag: number): void {
    const type = tag & 7
    if (type === VARINT) this.varint()
    else if (type === BYTES) this.bytes()
    else if (type === FIXED32) this.#fixed(4)
    else if (type === FIXED64) this.#fixed(8)
    else refuse(`wire type ${type} is unknown`)
  }

  #fixed(size: 4 | 8): DataView {
    const start = this.#at
    if (size > this.#end - start) refuse('a number is cut off')
    this.#at = start + size
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + start, size)
  }
}

function readText(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > SHORT) return decode(bytes, start, end)
  let text = ''
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte >= 0x80) return decode(bytes, start, end)
    text += String.fromCharCode(byte)
  }
  return text
}

function decode(bytes: Uint8Array, start: number, end: number): string {
  try {
    return UTF8.decode(bytes.subarray(start, end))
  } catch (cause) {
    throw new ConchError('INTERNAL', 'unable to parse message: a text is not UTF-8', { cause })
  }
}

function refuse(why: string): never {
  throw new ConchError('INTERNAL', `unable to parse message: ${why}`)
}
