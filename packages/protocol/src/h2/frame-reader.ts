import { FLAG, FRAME, FRAME_HEADER, H2_ERROR, readUint32 } from './frames.ts'

/** Largest frames that are accepted, bytes. DATA is handed on as it comes; other frames are held whole. */
export interface FrameLimits {
  readonly frame: number
  readonly controlFrame: number
}

export interface FrameHeader {
  readonly type: number
  readonly flags: number
  readonly stream: number
  /** Bytes of the payload. */
  readonly size: number
}

/** Takes frames in the order in which they came. */
export interface FrameSink {
  /** A whole frame: anything but unpadded DATA. The payload is a view that is valid during the call. */
  frame(header: FrameHeader, payload: Uint8Array): void
  /** A piece of unpadded DATA; `last` for the piece that ends the frame. */
  data(header: FrameHeader, piece: Uint8Array, last: boolean): void
}

/** The connection cannot go on; `code` goes into the GOAWAY. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Cuts what comes from a socket into frames. Nothing is copied but frame headers and small payloads that arrive in pieces. */
export class FrameReader {
  readonly #sink: FrameSink
  readonly #limits: FrameLimits
  readonly #head = new Uint8Array(FRAME_HEADER)
  #headSize = 0
  #frame: FrameHeader | undefined = undefined
  /** Of `#frame`: bytes that have not come yet, and those of a whole frame that have. */
  #left = 0
  #held: Uint8Array | undefined = undefined

  constructor(sink: FrameSink, limits: FrameLimits) {
    this.#sink = sink
    this.#limits = limits
  }

  /** Throws ConnectionError. */
  push(chunk: Uint8Array): void {
    let at = 0
    while (at < chunk.length)
      at = this.#frame === undefined ? this.#readHeader(chunk, at) : this.#readPayload(chunk, at)
  }

  #readHeader(chunk: Uint8Array, at: number): number {
    const missing = FRAME_HEADER - this.#headSize
    if (this.#headSize === 0 && chunk.length - at >= FRAME_HEADER) {
      this.#begin(chunk, at)
      return at + FRAME_HEADER
    }
    const piece = chunk.subarray(at, at + missing)
    this.#head.set(piece, this.#headSize)
    this.#headSize += piece.length
    if (this.#headSize === FRAME_HEADER) {
      this.#headSize = 0
      this.#begin(this.#head, 0)
    }
    return at + piece.length
  }

  #begin(bytes: Uint8Array, at: number): void {
    const size = readUint32(bytes, at) >>> 8
    const header = {
      size,
      type: bytes[at + 3] ?? 0,
      flags: bytes[at + 4] ?? 0,
      stream: readUint32(bytes, at + 5) % 2 ** 31,
    }
    const most = header.type === FRAME.DATA ? this.#limits.frame : this.#limits.controlFrame
    if (size > most) throw new ConnectionError(H2_ERROR.FRAME_SIZE_ERROR, `a frame of ${size} bytes`)
    if (size > 0) {
      this.#frame = header
      this.#left = size
    } else if (isPlainData(header)) this.#sink.data(header, EMPTY, true)
    else this.#sink.frame(header, EMPTY)
  }

  #readPayload(chunk: Uint8Array, at: number): number {
    const header = this.#frame as FrameHeader
    const piece = chunk.subarray(at, at + this.#left)
    this.#left -= piece.length
    const last = this.#left === 0
    if (last) this.#frame = undefined
    if (isPlainData(header)) this.#sink.data(header, piece, last)
    else if (piece.length === header.size) this.#sink.frame(header, piece)
    else this.#hold(header, piece, last)
    return at + piece.length
  }

  #hold(header: FrameHeader, piece: Uint8Array, last: boolean): void {
    this.#held ??= new Uint8Array(header.size)
    this.#held.set(piece, header.size - this.#left - piece.length)
    if (!last) return
    const payload = this.#held
    this.#held = undefined
    this.#sink.frame(header, payload)
  }
}

function isPlainData({ type, flags }: FrameHeader): boolean {
  return type === FRAME.DATA && (flags & FLAG.PADDED) === 0
}

const EMPTY = new Uint8Array(0)
