import type { Duplex } from 'node:stream'
import { DEFAULT_FRAME_SIZE, DEFAULT_WINDOW, FLAG, FRAME, H2_ERROR, MAX_WINDOW, SETTING } from '@conch/protocol'
import { LIMITS } from './limits.ts'
import { Output } from './output.ts'
import type { H2Stream } from './stream.ts'

const SETTINGS = [
  [SETTING.MAX_CONCURRENT_STREAMS, LIMITS.streams],
  [SETTING.INITIAL_WINDOW_SIZE, LIMITS.streamWindow],
  [SETTING.MAX_FRAME_SIZE, LIMITS.frame],
  [SETTING.MAX_HEADER_LIST_SIZE, LIMITS.headerList],
] as const

/** What all connections may hold together, bytes. */
export interface SharedMemory {
  /** False, and nothing taken, when there is no room. */
  take(bytes: number): boolean
  giveBack(bytes: number): void
}

/** Frames out of one connection, as fast as the client's windows and the socket allow. */
export class Sender {
  readonly output: Output
  /** The client's largest frame, and the window of streams that begin. */
  frameSize = DEFAULT_FRAME_SIZE
  streamWindow = DEFAULT_WINDOW
  /** Bytes that may be sent on all streams together. */
  #window = DEFAULT_WINDOW
  /** Streams that wait for the connection's window or for the socket. */
  readonly #blocked = new Set<H2Stream>()

  readonly #memory: SharedMemory

  constructor(socket: Duplex, memory: SharedMemory) {
    this.#memory = memory
    this.output = new Output(socket)
  }

  settings(): void {
    this.output.frame({ size: SETTINGS.length * 6, type: FRAME.SETTINGS, flags: 0, stream: 0 })
    for (const [setting, value] of SETTINGS) {
      this.output.bytes(Uint8Array.of(0, setting))
      this.output.uint32(value)
    }
    this.allow(0, LIMITS.connectionWindow - DEFAULT_WINDOW)
  }

  acknowledgeSettings(): void {
    this.output.frame({ size: 0, type: FRAME.SETTINGS, flags: FLAG.ACK, stream: 0 })
  }

  /** Lets the client send more; stream 0 = on all of them. */
  allow(stream: number, more: number): void {
    this.output.frame({ size: 4, type: FRAME.WINDOW_UPDATE, flags: 0, stream })
    this.output.uint32(more)
  }

  reset(stream: number, code: number): void {
    this.output.frame({ size: 4, type: FRAME.RST_STREAM, flags: 0, stream })
    this.output.uint32(code)
  }

  ping(payload: Uint8Array, flags: number): void {
    this.output.frame({ size: 8, type: FRAME.PING, flags, stream: 0 })
    this.output.bytes(payload)
  }

  goAway(lastStream: number, code: number, text: string): void {
    const reason = Buffer.from(text.slice(0, 100))
    this.output.frame({ size: 8 + reason.length, type: FRAME.GOAWAY, flags: 0, stream: 0 })
    this.output.uint32(lastStream)
    this.output.uint32(code)
    this.output.bytes(reason)
  }

  headers(stream: number, block: Uint8Array, end: boolean): void {
    const flags = FLAG.END_HEADERS | (end ? FLAG.END_STREAM : 0)
    this.output.frame({ size: block.length, type: FRAME.HEADERS, flags, stream })
    this.output.bytes(block)
  }

  /** The client takes more on all streams. False when its window would overflow. */
  widen(more: number): boolean {
    this.#window += more
    return this.#window <= MAX_WINDOW
  }

  /** Streams that may have something to send now. */
  get blocked(): Iterable<H2Stream> {
    return this.#blocked
  }

  forget(stream: H2Stream): void {
    this.#blocked.delete(stream)
    this.#memory.giveBack(stream.counted)
    stream.counted = 0
  }

  /** Sends what waits on a stream, as far as possible; returns the trailers when they are next. */
  pump(stream: H2Stream): Uint8Array | undefined {
    const trailers = this.#send(stream)
    if (stream.backlog !== stream.counted) this.#count(stream)
    return trailers
  }

  /** Answers that clients do not take are memory too: who adds to them when there is none left loses the call. */
  #count(stream: H2Stream): void {
    const change = stream.backlog - stream.counted
    stream.counted = stream.backlog
    if (change < 0) this.#memory.giveBack(-change)
    else if (!this.#memory.take(change)) {
      stream.counted -= change
      stream.reset(H2_ERROR.ENHANCE_YOUR_CALM)
    }
  }

  #send(stream: H2Stream): Uint8Array | undefined {
    const { waiting } = stream
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      if ('trailers' in next) {
        waiting.length = 0
        this.#blocked.delete(stream)
        return next.trailers
      }
      const { bytes, from } = next
      const size = Math.min(bytes.length - from, stream.window, this.#window, this.frameSize)
      if (size <= 0 || this.output.unsent > LIMITS.unsent) {
        this.#blocked.add(stream)
        return undefined
      }
      this.#data(stream, from === 0 && size === bytes.length ? bytes : bytes.subarray(from, from + size))
      next.from += size
      if (next.from === bytes.length) waiting.shift()
    }
    this.#blocked.delete(stream)
    return undefined
  }

  #data(stream: H2Stream, bytes: Uint8Array): void {
    stream.window -= bytes.length
    stream.backlog -= bytes.length
    this.#window -= bytes.length
    this.output.frame({ size: bytes.length, type: FRAME.DATA, flags: 0, stream: stream.id })
    this.output.bytes(bytes)
    // Only what has been written counts as unsent: large bodies are written as they are cut.
    if (bytes.length >= DEFAULT_FRAME_SIZE / 2) this.output.flush()
  }
}
