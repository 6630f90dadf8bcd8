import { ConchError } from '@conch/protocol'
import { LIMITS } from './limits.ts'
import type { BodySink } from './message.ts'

const EMPTY = Buffer.alloc(0)

export type BodyResult = (error: ConchError | undefined, body: Buffer) => void

/** Whose body it is. */
export interface BodyHolder {
  /** Counts bytes that have come; an error when there is no room for them. */
  hold(bytes: number): ConchError | undefined
}

export interface ExpectedBody {
  readonly holder: BodyHolder
  /** The Content-Length, or −1 for a chunked body. */
  readonly announced: number
  /** Bytes. */
  readonly limit: number
  /** Bytes before the elements of binary tensors. */
  readonly head: number
}

/** Wide enough for every datatype: elements at such a place are read where they are. */
const ALIGNMENT = 16
/** Memory from this size on is worth giving back by hand. */
const LARGE = 16 * 1024

/**
 * Gives large memory back at once. The collector would find it too, but late, and every time at the price of looking at
 * everything that is alive. Nobody may use the bytes, or any others of the same ArrayBuffer, afterwards.
 */
export function release({ buffer, byteLength }: Uint8Array): void {
  if (byteLength >= LARGE && buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0)
}

/**
 * Collects one request body. The common body is one piece and is handed on as it came; others are gathered into one
 * buffer of the announced length. What is sent beyond a limit is dropped unread after the error was reported.
 */
export class BodyCollector implements BodySink {
  readonly #announced: number
  readonly #limit: number
  /** Bytes left free in front, so that what follows the head is aligned. */
  readonly #lead: number
  readonly #holder: BodyHolder
  readonly #done: BodyResult
  #buffer: Buffer = EMPTY
  #length = 0
  #whole: Buffer | undefined = undefined
  #smallPieces = 0
  #finished = false

  constructor({ announced, limit, head, holder }: ExpectedBody, done: BodyResult) {
    this.#announced = announced
    this.#limit = limit
    this.#lead = -head & (ALIGNMENT - 1)
    this.#holder = holder
    this.#done = done
  }

  data(chunk: Buffer): void {
    if (this.#finished) return
    const size = this.#length + chunk.length
    if (size > this.#limit) return this.#fail(tooLarge(this.#limit))
    const full = this.#holder.hold(chunk.length)
    if (full !== undefined) return this.#fail(full)
    if (this.#announced < 0 && chunk.length < LIMITS.smallPiece) {
      this.#smallPieces += 1
      if (this.#smallPieces > LIMITS.chunks) return this.#fail(tooManyChunks())
    }
    if (this.#length === 0) {
      this.#whole = chunk
      this.#length = size
      return
    }
    this.#reserve(size)
    if (this.#whole !== undefined) {
      this.#take(this.#whole, 0)
      this.#whole = undefined
    }
    this.#take(chunk, this.#length)
    this.#length = size
  }

  end(): void {
    if (this.#finished) return
    this.#finished = true
    this.#done(undefined, this.#whole ?? this.#buffer.subarray(0, this.#length))
  }

  /** Its client has gone. */
  abort(): void {
    if (!this.#finished) this.#fail(new ConchError('CANCELLED', ''))
  }

  #take(chunk: Buffer, at: number): void {
    chunk.copy(this.#buffer, at)
    // The parser made it for this chunk alone.
    if (chunk.byteLength === chunk.buffer.byteLength) release(chunk)
  }

  /** The memory is the body's alone (never pooled), so that it can be handed to another thread. */
  #reserve(size: number): void {
    if (size <= this.#buffer.length) return
    const trusted = Math.max(LIMITS.bodyReserve, this.#length * LIMITS.bodyTrust)
    const wanted = Math.max(size, Math.min(this.#announced, trusted), this.#announced < 0 ? this.#buffer.length * 2 : 0)
    const grown = Buffer.allocUnsafeSlow(Math.min(wanted, this.#limit) + this.#lead).subarray(this.#lead)
    this.#buffer.copy(grown, 0, 0, this.#length)
    release(this.#buffer)
    this.#buffer = grown
  }

  #fail(error: ConchError): void {
    this.#finished = true
    this.#buffer = EMPTY
    this.#whole = undefined
    this.#done(error, EMPTY)
  }
}

export function tooLarge(limit: number): ConchError {
  return new ConchError('INVALID_ARG', `request body exceeds the maximum allowed size of ${limit} bytes`)
}

function tooManyChunks(): ConchError {
  return new ConchError(
    'INVALID_ARG',
    `Chunked request body exceeds maximum of ${LIMITS.chunks} non-empty chunks. Send fewer or larger HTTP chunks.`,
  )
}
