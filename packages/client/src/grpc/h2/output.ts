import type { Duplex } from 'node:stream'
import { FRAME_HEADER, writeFrameHeader, writeUint32 } from '@conch/protocol'

interface Frame {
  readonly size: number
  readonly type: number
  readonly flags: number
  readonly stream: number
}

/** Frames are gathered and written together, once per turn; up to this many bytes as one piece. */
const TOGETHER = 65_536

export class Output {
  readonly #socket: Duplex
  #pieces: Uint8Array[] = []
  #size = 0
  #scheduled = false

  constructor(socket: Duplex) {
    this.#socket = socket
  }

  /** Bytes that the server has not taken. */
  get unsent(): number {
    return this.#socket.writableLength + this.#size
  }

  frame(frame: Frame, payload: Uint8Array): void {
    const head = Buffer.allocUnsafe(FRAME_HEADER)
    writeFrameHeader(head, 0, frame)
    this.raw(head)
    if (payload.length > 0) this.raw(payload)
  }

  /** A frame whose payload are 32-bit integers. */
  words(type: number, stream: number, words: readonly number[]): void {
    const payload = Buffer.allocUnsafe(words.length * 4)
    words.forEach((word, index) => writeUint32(payload, index * 4, word))
    this.frame({ size: payload.length, type, flags: 0, stream }, payload)
  }

  raw(piece: Uint8Array): void {
    this.#pieces.push(piece)
    this.#size += piece.length
    if (this.#scheduled) return
    this.#scheduled = true
    process.nextTick(() => this.flush())
  }

  flush(): void {
    this.#scheduled = false
    const pieces = this.#pieces
    if (pieces.length === 0 || this.#socket.destroyed) return
    this.#pieces = []
    const size = this.#size
    this.#size = 0
    if (size <= TOGETHER) {
      this.#socket.write(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces, size))
      return
    }
    this.#socket.cork()
    for (const piece of pieces) this.#socket.write(piece)
    this.#socket.uncork()
  }
}
