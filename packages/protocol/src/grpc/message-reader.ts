import { readUint32 } from '../h2/frames.ts'

/** Bytes that are no messages, or one that is larger than allowed. */
export class MessageError extends Error {
  override readonly name = 'MessageError'
  readonly tooLarge: boolean
  constructor(message: string, tooLarge: boolean) {
    super(message)
    this.tooLarge = tooLarge
  }
}

/** gRPC's own frame: 1 byte compressed or not, 4 bytes length, big-endian. */
const PREFIX = 5
/** Bytes that are set aside for a message before they have come. */
const FIRST = 65_536

/** Puts the messages of one call together. A message that came in one piece is a view on it, others are copied once. */
export class MessageReader {
  readonly #limit: number
  readonly #take: (message: Uint8Array, compressed: boolean) => void
  readonly #prefix = new Uint8Array(PREFIX)
  #prefixSize = 0
  #compressed = false
  /** -1 = the next prefix is not complete. */
  #size = -1
  #held: Uint8Array | undefined = undefined
  #heldSize = 0

  constructor(limit: number, take: (message: Uint8Array, compressed: boolean) => void) {
    this.#limit = limit
    this.#take = take
  }

  /** False in the middle of a message. */
  get isComplete(): boolean {
    return this.#prefixSize === 0 && this.#size < 0
  }

  /** Throws MessageError. */
  push(piece: Uint8Array): void {
    let at = 0
    while (at < piece.length || this.#size === 0) {
      at = this.#size < 0 ? this.#readPrefix(piece, at) : this.#readBody(piece, at)
    }
  }

  #readPrefix(piece: Uint8Array, at: number): number {
    const part = piece.subarray(at, at + PREFIX - this.#prefixSize)
    this.#prefix.set(part, this.#prefixSize)
    this.#prefixSize += part.length
    if (this.#prefixSize < PREFIX) return at + part.length
    this.#prefixSize = 0
    const [flag = 0] = this.#prefix
    if (flag > 1) throw new MessageError(`a message begins with ${flag}; 0 or 1 was expected`, false)
    this.#compressed = flag === 1
    this.#size = readUint32(this.#prefix, 1)
    if (this.#size > this.#limit)
      throw new MessageError(`Received message larger than max (${this.#size} vs. ${this.#limit})`, true)
    return at + part.length
  }

  #readBody(piece: Uint8Array, at: number): number {
    const end = at + this.#size - this.#heldSize
    if (this.#held === undefined && end <= piece.length) {
      this.#finish(piece.subarray(at, end))
      return end
    }
    const part = piece.subarray(at, end)
    this.#hold(part)
    if (this.#heldSize === this.#size) this.#finish((this.#held ?? part).subarray(0, this.#size))
    return at + part.length
  }

  /** Room grows with what came, not with what was announced. */
  #hold(part: Uint8Array): void {
    const needed = this.#heldSize + part.length
    if (this.#held === undefined || needed > this.#held.length) {
      const room = Math.max(needed, Math.min(this.#size, Math.max(FIRST, needed * 4)))
      const grown = new Uint8Array(room)
      if (this.#held !== undefined) grown.set(this.#held.subarray(0, this.#heldSize))
      this.#held = grown
    }
    this.#held.set(part, this.#heldSize)
    this.#heldSize = needed
  }

  #finish(message: Uint8Array): void {
    this.#size = -1
    this.#held = undefined
    this.#heldSize = 0
    this.#take(message, this.#compressed)
  }
}
