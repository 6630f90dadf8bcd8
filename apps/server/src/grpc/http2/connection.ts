import type { Duplex } from 'node:stream'
import {
  ConnectionError,
  DEFAULT_FRAME_SIZE,
  FLAG,
  FRAME,
  FrameReader,
  H2_ERROR,
  HeaderBlocks,
  HpackError,
  MAX_WINDOW,
  PREFACE,
  readUint32,
  SETTING,
  stripPadding,
} from '@conch/protocol'
import type { FrameHeader, FrameSink, HeaderBlock } from '@conch/protocol'
import { checkHeaders } from './headers.ts'
import { Allowance, LIMITS } from './limits.ts'
import { PingRules } from './ping-rules.ts'
import type { PingPolicy } from './ping-rules.ts'
import { Sender, type SharedMemory } from './sender.ts'
import { H2Stream } from './stream.ts'
import type { StreamHandler, StreamOwner } from './stream.ts'

/** Milliseconds in which a client that was told off may still read why. */
const LINGER = 1_000
const NO_PAYLOAD = new Uint8Array(8)

export interface ConnectionParts {
  readonly pings: PingPolicy
  readonly memory: SharedMemory
  /** A new call; its headers are well-formed. `tooLarge`: they were more than LIMITS.headerList and are left out. */
  readonly open: (stream: H2Stream, tooLarge: boolean) => StreamHandler
  readonly closed: (connection: Connection) => void
  readonly log: (text: string) => void
}

/**
 * The server's half of one HTTP/2 connection (RFC 9113): frames in, frames out, windows, and the limits that keep one client from costing
 * the others. What a peer does wrong ends its stream or its connection, with the code that the RFC names.
 */
export class Connection implements FrameSink, StreamOwner {
  readonly #socket: Duplex
  readonly #parts: ConnectionParts
  readonly #sender: Sender
  readonly #reader = new FrameReader(this, LIMITS)
  readonly #blocks = new HeaderBlocks(LIMITS)
  readonly #streams = new Map<number, H2Stream>()
  readonly #idleFrames = new Allowance(LIMITS.idleFrames)
  readonly #resets = new Allowance(LIMITS.resets)
  readonly #pings: PingRules
  readonly #greeting: NodeJS.Timeout
  #prefaceLeft = PREFACE.length
  #greeted = false
  #lastStream = 0
  /** Bytes that the client may still send on all streams, and those it was not yet told it may. */
  #allowed: number = LIMITS.connectionWindow
  #owed = 0
  #leaving = false
  #closed = false
  /** By frame type. */
  readonly #takers: Readonly<Record<number, (header: FrameHeader, payload: Uint8Array) => void>> = {
    [FRAME.HEADERS]: (header, payload) => this.#takeHeaders(this.#blocks.begin(header, payload)),
    [FRAME.CONTINUATION]: (header, payload) => {
      if (payload.length === 0) this.#countIdle()
      this.#takeHeaders(this.#blocks.goOn(header, payload))
    },
    [FRAME.DATA]: (header, payload) => this.#takePadded(header, payload),
    [FRAME.WINDOW_UPDATE]: (header, payload) => this.#widen(header, payload),
    [FRAME.RST_STREAM]: (header, payload) => this.#takeReset(header, payload),
    [FRAME.SETTINGS]: (header, payload) => this.#takeSettings(header, payload),
    [FRAME.PING]: (header, payload) => this.#takePing(header, payload),
    [FRAME.PUSH_PROMISE]: () => refuse('clients do not push'),
    [FRAME.PRIORITY]: (header, payload) => {
      this.#countIdle()
      if (header.stream === 0 || payload.length !== 5) refuse('a bad PRIORITY frame')
    },
    [FRAME.GOAWAY]: (header) => {
      if (header.stream !== 0) refuse('GOAWAY on a stream')
    },
  }

  constructor(socket: Duplex, parts: ConnectionParts) {
    this.#socket = socket
    this.#parts = parts
    this.#sender = new Sender(socket, parts.memory)
    this.#pings = new PingRules(parts.pings, {
      ping: () => this.#sender.ping(NO_PAYLOAD, 0),
      lost: () => this.#socket.destroy(),
      calls: () => this.#streams.size,
    })
    this.#greeting = setTimeout(() => this.#socket.destroy(), LIMITS.greeting)
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('drain', () => this.#pumpBlocked())
    socket.on('error', () => undefined)
    socket.on('end', () => this.#socket.end())
    socket.on('close', () => this.#close())
    this.#sender.settings()
  }

  get calls(): number {
    return this.#streams.size
  }

  /** Takes no new calls; ends when the open ones have. */
  leave(): void {
    if (this.#leaving) return
    this.#leaving = true
    this.#sender.goAway(this.#lastStream, H2_ERROR.NO_ERROR, '')
    this.#endWhenDone()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#sender.output.hold()
    try {
      const rest = this.#prefaceLeft > 0 ? this.#checkPreface(chunk) : chunk
      if (rest.length > 0) this.#reader.push(rest)
      this.#grantConnection()
    } catch (error) {
      this.#fail(error)
    }
    this.#sender.output.release()
  }

  #checkPreface(chunk: Buffer): Buffer {
    const from = PREFACE.length - this.#prefaceLeft
    const piece = chunk.subarray(0, this.#prefaceLeft)
    if (piece.toString('latin1') !== PREFACE.slice(from, from + piece.length)) {
      throw new ConnectionError(H2_ERROR.PROTOCOL_ERROR, 'this is no HTTP/2 (gRPC) connection')
    }
    this.#prefaceLeft -= piece.length
    return chunk.subarray(piece.length)
  }

  #fail(error: unknown): void {
    const known = error instanceof ConnectionError
    const code = known ? error.code : error instanceof HpackError ? H2_ERROR.COMPRESSION_ERROR : H2_ERROR.INTERNAL_ERROR
    const text = error instanceof Error ? error.message : String(error)
    this.#parts.log(text)
    this.#sender.goAway(this.#lastStream, code, text)
    this.#sender.output.flush()
    this.#socket.removeAllListeners('data')
    this.#socket.resume()
    this.#socket.end()
    setTimeout(() => this.#socket.destroy(), LINGER).unref()
  }

  #close(): void {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#greeting)
    this.#pings.stop()
    for (const stream of this.#streams.values()) {
      stream.localClosed = true
      this.#sender.forget(stream)
      stream.handler?.gone()
    }
    this.#streams.clear()
    this.#parts.closed(this)
  }

  // Frames in

  frame(header: FrameHeader, payload: Uint8Array): void {
    if (!this.#greeted && header.type !== FRAME.SETTINGS) refuse('the first frame must be SETTINGS')
    if (this.#blocks.isOpen && header.type !== FRAME.CONTINUATION) refuse('a header block was interrupted')
    const take = this.#takers[header.type]
    if (take === undefined) this.#countIdle()
    else take(header, payload)
  }

  data(header: FrameHeader, piece: Uint8Array, last: boolean): void {
    if (!this.#greeted) refuse('the first frame must be SETTINGS')
    if (this.#blocks.isOpen) refuse('a header block was interrupted')
    const ends = last && (header.flags & FLAG.END_STREAM) !== 0
    if (piece.length === 0 && !ends) this.#countIdle()
    this.#takeData(header.stream, piece, ends)
    this.#account(header.stream, piece.length)
  }

  #takePadded(header: FrameHeader, payload: Uint8Array): void {
    const content = stripPadding(header, payload)
    if (content.length === 0) this.#countIdle()
    this.#takeData(header.stream, content.slice(), (header.flags & FLAG.END_STREAM) !== 0)
    this.#account(header.stream, payload.length)
  }

  #takeData(id: number, piece: Uint8Array, ends: boolean): void {
    const stream = this.#streams.get(id)
    if (stream === undefined) {
      if (id === 0 || id > this.#lastStream || id % 2 === 0) refuse('DATA on an idle stream')
      return
    }
    if (stream.remoteClosed) {
      this.reset(stream, H2_ERROR.STREAM_CLOSED)
      return
    }
    if (piece.length > 0) stream.handler?.data(piece)
    if (ends) this.#endRemote(stream)
  }

  #account(id: number, size: number): void {
    if (size === 0) return
    this.#allowed -= size
    this.#owed += size
    if (this.#allowed < 0) throw new ConnectionError(H2_ERROR.FLOW_CONTROL_ERROR, 'more DATA than the window allows')
    const stream = this.#streams.get(id)
    if (stream === undefined) return
    stream.allowed -= size
    stream.owed += size
    if (stream.allowed < 0) this.reset(stream, H2_ERROR.FLOW_CONTROL_ERROR)
    else if (!stream.remoteClosed) this.grant(stream, LIMITS.streamWindow / 2)
  }

  #endRemote(stream: H2Stream): void {
    stream.remoteClosed = true
    stream.handler?.end()
    if (stream.localClosed) this.#forget(stream)
  }

  #takeHeaders(block: HeaderBlock | undefined): void {
    if (block === undefined) return
    const { header, list } = block
    const { stream: id, flags } = header
    const known = this.#streams.get(id)
    const ends = (flags & FLAG.END_STREAM) !== 0
    if (known !== undefined) {
      // Trailers: gRPC clients send none, and none are needed.
      if (known.remoteClosed || !ends) this.reset(known, H2_ERROR.PROTOCOL_ERROR)
      else this.#endRemote(known)
      return
    }
    if (id <= this.#lastStream) throw new ConnectionError(H2_ERROR.STREAM_CLOSED, 'HEADERS on a closed stream')
    this.#lastStream = id
    if (this.#leaving || this.#streams.size >= LIMITS.streams) return this.#sender.reset(id, H2_ERROR.REFUSED_STREAM)
    if (list !== undefined && !checkHeaders(list)) return this.#sender.reset(id, H2_ERROR.PROTOCOL_ERROR)
    const stream = new H2Stream(this, { id, headers: list ?? [], window: this.#sender.streamWindow })
    this.#streams.set(id, stream)
    this.#pings.work()
    stream.handler = this.#parts.open(stream, list === undefined)
    if (ends) this.#endRemote(stream)
  }

  #widen({ stream: id }: FrameHeader, payload: Uint8Array): void {
    if (payload.length !== 4) throw new ConnectionError(H2_ERROR.FRAME_SIZE_ERROR, 'a bad WINDOW_UPDATE')
    const more = readUint32(payload, 0) % 2 ** 31
    if (id === 0) {
      if (more === 0) refuse('a window that grows by nothing')
      if (!this.#sender.widen(more)) throw new ConnectionError(H2_ERROR.FLOW_CONTROL_ERROR, 'a window beyond 2^31-1')
      this.#pumpBlocked()
      return
    }
    const stream = this.#streams.get(id)
    if (stream === undefined) {
      if (id > this.#lastStream) refuse('WINDOW_UPDATE on an idle stream')
      return
    }
    stream.window += more
    if (more === 0) this.reset(stream, H2_ERROR.PROTOCOL_ERROR)
    else if (stream.window > MAX_WINDOW) this.reset(stream, H2_ERROR.FLOW_CONTROL_ERROR)
    else this.pump(stream)
  }

  #takeReset({ stream: id }: FrameHeader, payload: Uint8Array): void {
    if (payload.length !== 4) throw new ConnectionError(H2_ERROR.FRAME_SIZE_ERROR, 'a bad RST_STREAM')
    if (id === 0 || id > this.#lastStream) refuse('RST_STREAM on an idle stream')
    if (!this.#resets.take()) throw new ConnectionError(H2_ERROR.ENHANCE_YOUR_CALM, 'too many calls are cancelled')
    const stream = this.#streams.get(id)
    if (stream !== undefined) this.#drop(stream)
  }

  #takeSettings({ stream, flags, size }: FrameHeader, payload: Uint8Array): void {
    if (stream !== 0) refuse('SETTINGS on a stream')
    if ((flags & FLAG.ACK) !== 0) {
      if (size !== 0) throw new ConnectionError(H2_ERROR.FRAME_SIZE_ERROR, 'a bad SETTINGS acknowledgement')
      return
    }
    if (size % 6 !== 0) throw new ConnectionError(H2_ERROR.FRAME_SIZE_ERROR, 'a bad SETTINGS frame')
    this.#countIdle()
    this.#greeted = true
    clearTimeout(this.#greeting)
    for (let at = 0; at < size; at += 6) {
      this.#apply(((payload[at] ?? 0) << 8) + (payload[at + 1] ?? 0), readUint32(payload, at + 2))
    }
    this.#sender.acknowledgeSettings()
  }

  #apply(setting: number, value: number): void {
    if (setting === SETTING.MAX_FRAME_SIZE) {
      if (value < DEFAULT_FRAME_SIZE || value > 2 ** 24 - 1) refuse('a bad frame size')
      this.#sender.frameSize = value
    } else if (setting === SETTING.ENABLE_PUSH) {
      if (value > 1) refuse('a bad ENABLE_PUSH')
    } else if (setting === SETTING.INITIAL_WINDOW_SIZE) {
      if (value > MAX_WINDOW) throw new ConnectionError(H2_ERROR.FLOW_CONTROL_ERROR, 'a bad window size')
      const change = value - this.#sender.streamWindow
      this.#sender.streamWindow = value
      for (const stream of this.#streams.values()) {
        stream.window += change
        if (stream.window > MAX_WINDOW) throw new ConnectionError(H2_ERROR.FLOW_CONTROL_ERROR, 'a bad window size')
        this.pump(stream)
      }
    }
  }

  #takePing({ stream, flags }: FrameHeader, payload: Uint8Array): void {
    if (stream !== 0) refuse('PING on a stream')
    if (payload.length !== 8) throw new ConnectionError(H2_ERROR.FRAME_SIZE_ERROR, 'a bad PING')
    if ((flags & FLAG.ACK) !== 0) return this.#pings.answered()
    this.#countIdle()
    if (!this.#pings.accept()) throw new ConnectionError(H2_ERROR.ENHANCE_YOUR_CALM, 'too_many_pings')
    this.#sender.ping(payload, FLAG.ACK)
  }

  #countIdle(): void {
    if (!this.#idleFrames.take())
      throw new ConnectionError(H2_ERROR.ENHANCE_YOUR_CALM, 'too many frames without content')
  }

  // Frames out

  #grantConnection(): void {
    if (this.#owed < LIMITS.connectionWindow / 2) return
    this.#sender.allow(0, this.#owed)
    this.#allowed += this.#owed
    this.#owed = 0
  }

  /** Lets the client send more on a stream once it owes more than `least`. */
  grant(stream: H2Stream, least: number): void {
    if (stream.paused || stream.remoteClosed || stream.owed <= least) return
    this.#sender.allow(stream.id, stream.owed)
    stream.allowed += stream.owed
    stream.owed = 0
  }

  writeHeaders(stream: H2Stream, block: Uint8Array, end: boolean): void {
    this.#sender.headers(stream.id, block, end)
    this.#pings.work()
    if (end) this.#endLocal(stream)
  }

  pump(stream: H2Stream): void {
    const { backlog } = stream
    const trailers = this.#sender.pump(stream)
    // Clients measure the line with a ping whenever data comes.
    if (stream.backlog < backlog) this.#pings.work()
    if (trailers !== undefined) this.writeHeaders(stream, trailers, true)
    else if (stream.backlog === 0) stream.handler?.drained()
  }

  #pumpBlocked(): void {
    for (const stream of this.#sender.blocked) this.pump(stream)
  }

  #endLocal(stream: H2Stream): void {
    stream.localClosed = true
    // The client still sends what nobody reads.
    if (!stream.remoteClosed) this.#sender.reset(stream.id, H2_ERROR.NO_ERROR)
    this.#forget(stream)
  }

  reset(stream: H2Stream, code: number): void {
    if (!this.#streams.has(stream.id)) return
    this.#sender.reset(stream.id, code)
    this.#drop(stream)
  }

  #drop(stream: H2Stream): void {
    const answered = stream.localClosed
    stream.localClosed = true
    stream.remoteClosed = true
    stream.waiting.length = 0
    stream.backlog = 0
    this.#forget(stream)
    if (!answered) stream.handler?.gone()
  }

  #forget(stream: H2Stream): void {
    this.#streams.delete(stream.id)
    this.#sender.forget(stream)
    this.#endWhenDone()
  }

  #endWhenDone(): void {
    if (!this.#leaving || this.#streams.size > 0) return
    this.#sender.output.flush()
    this.#socket.end()
  }
}

function refuse(what: string): never {
  throw new ConnectionError(H2_ERROR.PROTOCOL_ERROR, what)
}
