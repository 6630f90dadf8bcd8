import { open, type FileHandle } from 'node:fs/promises'
import { ConchError } from '@conch/protocol'

/** One field of a protobuf message: where its payload lies in the file, or its number. */
export interface ProtoField {
  readonly number: number
  /** Of varints. */
  readonly value: bigint
  readonly start: number
  readonly end: number
}

const WINDOW = 65_536
/** Fields of one file that are looked at: a graph of millions of nodes is still a second's work. */
const MAX_FIELDS = 20_000_000
/** Bytes of a text that is shown. */
const MAX_TEXT = 4096

/** Walks a protobuf file without loading it: payloads that nobody asks for, as weights, are skipped over. */
export class ProtoFile {
  readonly size: number
  readonly #file: FileHandle
  #window = Buffer.alloc(0)
  #from = 0
  #fields = 0

  private constructor(file: FileHandle, size: number) {
    this.#file = file
    this.size = size
  }

  static async open(path: string): Promise<ProtoFile> {
    const file = await open(path, 'r')
    return new ProtoFile(file, (await file.stat()).size)
  }

  close(): Promise<void> {
    return this.#file.close()
  }

  async *fields({ start, end }: { start: number; end: number }): AsyncGenerator<ProtoField> {
    let at = start
    while (at < end) {
      this.#fields += 1
      if (this.#fields > MAX_FIELDS) refuse('it has too many parts')
      const tag = await this.#varint(at)
      const kind = Number(tag.value & 7n)
      const number = Number(tag.value >> 3n)
      const field = await this.#payload(kind, number, tag.next)
      if (field.end > end || number === 0) refuse('its parts do not fit')
      yield field
      at = field.end
    }
  }

  async text({ start, end }: ProtoField): Promise<string> {
    if (start === end) return ''
    const bytes = await this.#bytes(start, Math.min(end - start, MAX_TEXT))
    return bytes.toString('utf8')
  }

  /** Packed or not, a repeated number is one or several varints. */
  async numbers({ start, end, value }: ProtoField): Promise<readonly bigint[]> {
    if (start === end) return [value]
    const found: bigint[] = []
    for (let at = start; at < end && found.length < 64;) {
      const read = await this.#varint(at)
      found.push(read.value)
      at = read.next
    }
    return found
  }

  async #payload(kind: number, number: number, at: number): Promise<ProtoField> {
    if (kind === 0) {
      const { value, next } = await this.#varint(at)
      return { number, value, start: next, end: next }
    }
    if (kind === 1) return { number, value: 0n, start: at, end: at + 8 }
    if (kind === 5) return { number, value: 0n, start: at, end: at + 4 }
    if (kind !== 2) refuse('it is no ONNX file')
    const { value, next } = await this.#varint(at)
    return { number, value: 0n, start: next, end: next + Number(value) }
  }

  async #varint(at: number): Promise<{ value: bigint; next: number }> {
    const bytes = await this.#bytes(at, 10)
    let value = 0n
    for (const [i, byte] of bytes.entries()) {
      value |= BigInt(byte & 0x7f) << BigInt(7 * i)
      if (byte < 0x80) return { value: BigInt.asUintN(64, value), next: at + i + 1 }
    }
    return refuse('it ends too early')
  }

  /** At most `length` bytes; fewer at the end of the file. */
  async #bytes(at: number, length: number): Promise<Buffer> {
    const wanted = Math.min(length, this.size - at)
    if (wanted <= 0) refuse('it ends too early')
    if (at < this.#from || at + wanted > this.#from + this.#window.byteLength) {
      const buffer = Buffer.alloc(Math.max(WINDOW, wanted))
      const { bytesRead } = await this.#file.read(buffer, 0, buffer.byteLength, at)
      this.#window = buffer.subarray(0, bytesRead)
      this.#from = at
    }
    return this.#window.subarray(at - this.#from, at - this.#from + wanted)
  }
}

function refuse(why: string): never {
  throw new ConchError('INVALID_ARG', `the model's file cannot be read: ${why}`)
}
