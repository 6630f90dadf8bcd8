import type { Duplex } from 'node:stream'
import { FRAME_HEADER, writeFrameHeader, writeUint32 } from '@conch/protocol'

const SLAB = 16_384
/** Pieces up to this many bytes are copied together: one write is cheaper than two. */
const SMALL = 2_048

/** What leaves on a connection: frames are gathered and written together, once per turn. */
export class Output {
  readonly #socket: Duplex
  #slab = Buffer.allocUnsafeSlow(SLAB)
  /** Of the slab: written to the socket up to `#from`, filled up to `#to`. */
  #from = 0
  #to = 0
  #pieces: Uint8Array[] = []
  #held = false
  #scheduled = false

  constructor(socket: Duplex) {
    this.#socket = socket
  }

  /** Bytes that the client has not taken. */
  get unsent(): number {
    return this.#socket.writableLength
  }

  frame(frame: {
    readonly size: number
    readonly type: number
    readonly flags: number
    readonly stream: number
  }): void {
    this.#reserve(FRAME_HEADER)
    writeFrameHeader(this.#slab, this.#to, frame)
    this.#to += FRAME_HEADER
    this.#schedule()
  }

  uint32(value: number): void {
    this.#reserve(4)
    writeUint32(this.#slab, this.#to, value)
    this.#to += 4
  }

  bytes(bytes: Uint8Array): void {
    if (bytes.length > SMALL) {
      this.#seal()
      this.#pieces.push(bytes)
      return
    }
    this.#reserve(bytes.length)
    this.#slab.set(bytes, this.#to)
    this.#to += bytes.length
  }

  /** Until `release`, nothing is written: what answers a whole chunk leaves as one piece. */
  hold(): void {
    this.#held = true
  }

  release(): void {
    this.#held = false
    this.flush()
  }

  flush(): void {
    this.#scheduled = false
    this.#seal()
    const pieces = this.#pieces
    if (pieces.length === 0) return
    this.#pieces = []
    if (this.#socket.destroyed) return
    if (pieces.length === 1) {
      this.#socket.write(pieces[0])
      return
    }
    this.#socket.cork()
    for (const piece of pieces) this.#socket.write(piece)
    this.#socket.uncork()
  }

  #schedule(): void {
    if (this.#held || this.#scheduled) return
    this.#scheduled = true
    process.nextTick(() => this.flush())
  }

  #reserve(size: number): void {
    if (this.#to + size <= SLAB) return
    this.#seal()
    this.#slab = Buffer.allocUnsafeSlow(SLAB)
    this.#from = 0
    this.#to = 0
  }

  #seal(): void {
    if (this.#to === this.#from) return
    this.#pieces.push(this.#slab.subarray(this.#from, this.#to))
    this.#from = this.#to
  }
}
