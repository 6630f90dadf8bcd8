import type { FileHandle } from 'node:fs/promises'
import { ConchError } from '@conch/protocol'

/** Bytes that are read at once. Most of a model is one field, its weights, which is never read. */
const PIECE = 65_536
const LONGEST_VARINT = 10
/** Bounds for a whole file: a real one stays far below them. */
const MOST_FIELDS = 10_000_000
const MOST_TEXT = 67_108_864

/** Wire types of protocol buffers. */
export const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const

export interface Field {
  readonly number: number
  readonly wire: number
  /** Value of a varint; also the length of a field of bytes. */
  readonly value: number
  /** Where the field's content begins and ends in the file. */
  readonly start: number
  readonly end: number
}

/**
 * Reads a protocol buffer from a file, piece by piece, without ever holding it: fields that nobody asks for are stepped
 * over. Works beyond 2 GB. Everything is checked against the size of what contains it.
 */
export class ProtobufFile {
  readonly size: number
  readonly #file: FileHandle
  readonly #piece = Buffer.alloc(PIECE)
  #pieceStart = 0
  #pieceSize = 0
  #at = 0
  #fieldsLeft = MOST_FIELDS
  #textLeft = MOST_TEXT

  constructor(file: FileHandle, size: number) {
    this.#file = file
    this.size = size
  }

  /** The fields between two places, in order. */
  async *fields(start: number, end: number): AsyncGenerator<Field, void> {
    let at = start
    while (at < end) {
      this.#at = at
      const field = await this.#readField(end)
      yield field
      at = field.end
    }
  }

  async #readField(end: number): Promise<Field> {
    this.#fieldsLeft -= 1
    if (this.#fieldsLeft < 0) throw malformed(`more than ${MOST_FIELDS} fields`)
    const key = await this.#readVarint(end)
    const number = Math.floor(key / 8)
    const wire = key % 8
    if (number === 0) throw malformed(`field number 0 at byte ${this.#at}`)
    const value = wire === WIRE.varint || wire === WIRE.bytes ? await this.#readVarint(end) : 0
    const start = this.#at
    const field = { number, wire, value, start, end: start + sizeOf(wire, value, start) }
    if (field.end > end) throw malformed(`field ${number} at byte ${start} reaches beyond its end`)
    return field
  }

  /** A number of up to 64 bits, two's complement; loses bits beyond 2^53. */
  async #readVarint(end: number): Promise<number> {
    const size = Math.min(LONGEST_VARINT, end - this.#at)
    if (!this.#holds(this.#at, size)) await this.#fill(this.#at)
    let value = 0
    let complement = 0
    let scale = 1
    for (let i = 0; i < size; i++) {
      const byte = this.#piece[this.#at - this.#pieceStart + i] ?? 0
      value += (byte & 0x7f) * scale
      if (i < LONGEST_VARINT - 1) complement += (0x7f - (byte & 0x7f)) * scale
      if (byte < 0x80) {
        this.#at += i + 1
        // Ten bytes are a negative number, written out in full: its complement is small where the number itself is not.
        return i === LONGEST_VARINT - 1 ? -1 - complement : value
      }
      scale *= 128
    }
    const what = size < LONGEST_VARINT ? 'is cut off' : 'has more than ten bytes'
    throw malformed(`the number at byte ${this.#at} ${what}`)
  }

  #holds(at: number, size: number): boolean {
    return at >= this.#pieceStart && at + size <= this.#pieceStart + this.#pieceSize
  }

  async #fill(at: number): Promise<void> {
    const wanted = Math.min(PIECE, this.size - at)
    const { bytesRead } = await this.#file.read(this.#piece, 0, wanted, at)
    if (bytesRead < wanted) throw malformed(`the file ends at byte ${at + bytesRead}, it had ${this.size} bytes before`)
    this.#pieceStart = at
    this.#pieceSize = bytesRead
  }

  /** The text of a field of bytes; refuses one that is longer than `limit` bytes. */
  async text(field: Field, limit: number): Promise<string> {
    const { number, wire, value: size, start } = field
    if (wire !== WIRE.bytes) throw malformed(`field ${number} at byte ${start} is not a text`)
    this.#textLeft -= size
    if (size > limit || this.#textLeft < 0)
      throw malformed(`field ${number} at byte ${start} is a text of ${size} bytes`)
    if (size <= PIECE) {
      if (!this.#holds(start, size)) await this.#fill(start)
      const from = start - this.#pieceStart
      return this.#piece.toString('utf8', from, from + size)
    }
    const bytes = Buffer.alloc(size)
    const { bytesRead } = await this.#file.read(bytes, 0, size, start)
    return bytes.toString('utf8', 0, bytesRead)
  }
}

function sizeOf(wire: number, value: number, at: number): number {
  switch (wire) {
    case WIRE.varint:
      return 0
    case WIRE.fixed64:
      return 8
    case WIRE.fixed32:
      return 4
    case WIRE.bytes:
      if (value < 0) throw malformed(`a length of ${value} at byte ${at}`)
      return value
    default:
      throw malformed(`wire type ${wire} at byte ${at}`)
  }
}

export function malformed(what: string): ConchError {
  return new ConchError('INVALID_ARG', `not a valid ONNX file: ${what}`)
}
