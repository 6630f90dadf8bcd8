import type { Socket } from 'node:net'
import { LIMITS } from './limits.ts'
import type { BodySink } from './message.ts'

/**
 * What still comes of a body that is answered already. It is read and dropped, so that the client can finish sending and
 * then sees the answer; but only so much of it, in so many pieces, for so long: then the connection ends.
 */
export class Rest implements BodySink {
  readonly #socket: Socket
  readonly #timer: NodeJS.Timeout
  #bytes = 0
  #smallPieces = 0

  constructor(socket: Socket) {
    this.#socket = socket
    this.#timer = setInterval(() => this.#expire(), LIMITS.unreadTimeout).unref()
  }

  #expire(): void {
    // It may be us who do not read on: then the client is not to blame.
    if (this.#socket.isPaused() && !this.#socket.destroyed) return
    this.end()
    this.#socket.destroy()
  }

  data(chunk: Buffer): void {
    this.#bytes += chunk.length
    if (chunk.length < LIMITS.smallPiece) this.#smallPieces += 1
    if (this.#bytes <= LIMITS.unreadBytes && this.#smallPieces <= LIMITS.chunks) return
    this.end()
    this.#socket.destroy()
  }

  end(): void {
    clearInterval(this.#timer)
  }
}
