import { PREFIX } from './frame-writer.ts'

const MAX_HEADER = 64 * 1024 * 1024
const MAX_FRAME = 1024 * 1024 * 1024
/** What is kept between frames. */
const KEPT = 256 * 1024

/** Takes a header and its payload, a view that is valid during the call only. */
export type FrameListener = (header: object, payload: Buffer) => void

/** Cuts what comes in into frames, wherever it is torn. Throws for what can be no frame. */
export class FrameReader {
  readonly #listener: FrameListener
  /** The beginning of a frame that is not whole yet. */
  #memory: Buffer = Buffer.alloc(0)
  #length = 0

  constructor(listener: FrameListener) {
    this.#listener = listener
  }

  push(chunk: Buffer): void {
    if (this.#length === 0) {
      const read = this.#read(chunk)
      if (read < chunk.length) this.#keep(chunk.subarray(read))
      return
    }
    this.#keep(chunk)
    const whole = this.#memory.subarray(0, this.#length)
    const read = this.#read(whole)
    if (read === 0) return
    this.#length = 0
    if (read < whole.length) this.#keep(Buffer.from(whole.subarray(read)))
    else if (this.#memory.length > KEPT) this.#memory = Buffer.alloc(0)
  }

  /** Hands on the whole frames; returns how many bytes they had. */
  #read(bytes: Buffer): number {
    let at = 0
    while (at + PREFIX <= bytes.length) {
      const size = frameSize(bytes, at)
      if (at + size > bytes.length) break
      const body = at + PREFIX + bytes.readUInt32LE(at + 4)
      this.#listener(parseHeader(bytes, at + PREFIX, body), bytes.subarray(body, at + size))
      at += size
    }
    return at
  }

  #keep(part: Buffer): void {
    const needed = this.#length + part.length
    if (needed > this.#memory.length) {
      const first = this.#length > 0 ? this.#memory.subarray(0, this.#length) : part
      const announced = first.length >= PREFIX ? frameSize(first, 0) : 0
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, announced, 4_096))
      this.#memory.copy(larger, 0, 0, this.#length)
      this.#memory = larger
    }
    part.copy(this.#memory, this.#length)
    this.#length = needed
  }
}

function frameSize(bytes: Buffer, at: number): number {
  const size = bytes.readUInt32LE(at)
  const header = bytes.readUInt32LE(at + 4)
  if (size > MAX_FRAME || header > MAX_HEADER || header + 4 > size) throw new Error('a frame with impossible lengths')
  return 4 + size
}

function parseHeader(bytes: Buffer, start: number, end: number): object {
  const header: unknown = JSON.parse(bytes.toString('utf8', start, end))
  if (typeof header !== 'object' || header === null) throw new Error('a header that is no object')
  return header
}
