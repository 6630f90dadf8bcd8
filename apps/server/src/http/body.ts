import { ConchError } from '@conch/protocol'
import { LIMITS } from './limits.ts'
import type { BodySink } from './message.ts'

const EMPTY = Buffer.alloc(0)

export type BodyResult = (error: ConchError | undefined, body: Buffer) => void

/**
 * Collects one request body. The common body is one piece and is handed on as it came; others are gathered into one
 * buffer of the announced length. What is sent beyond a limit is dropped unread after the error was reported.
 */
export class BodyCollector implements BodySink {
  readonly #announced: number
  readonly #limit: number
  readonly #done: BodyResult
  #buffer: Buffer = EMPTY
  #length = 0
  #whole: Buffer | undefined = undefined
  #smallPieces = 0
  #finished = false

  /** `announced` is the Content-Length, or −1 for a chunked body; `limit` is in bytes. */
  constructor(announced: number, limit: number, done: BodyResult) {
    this.#announced = announced
    this.#limit = limit
    this.#done = done
  }

  data(chunk: Buffer): void {
    if (this.#finished) return
    const size = this.#length + chunk.length
    if (size > this.#limit) return this.#fail(tooLarge(this.#limit))
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
      this.#whole.copy(this.#buffer, 0)
      this.#whole = undefined
    }
    chunk.copy(this.#buffer, this.#length)
    this.#length = size
  }

  end(): void {
    if (this.#finished) return
    this.#finished = true
    this.#done(undefined, this.#whole ?? this.#buffer.subarray(0, this.#length))
  }

  /** The memory is the body's alone (never pooled), so that it can be handed to another thread. */
  #reserve(size: number): void {
    if (size <= this.#buffer.length) return
    const wanted = Math.max(size, Math.min(this.#announced, LIMITS.bodyReserve), this.#buffer.length * 2)
    const grown = Buffer.allocUnsafeSlow(Math.min(wanted, this.#limit))
    this.#buffer.copy(grown, 0, 0, this.#length)
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
