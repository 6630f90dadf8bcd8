import type { Duplex } from 'node:stream'
import {
  DEFAULT_FRAME_SIZE,
  DEFAULT_WINDOW,
  FLAG,
  FRAME,
  H2_ERROR,
  HpackDecoder,
  HpackError,
  MAX_WINDOW,
  PREFACE,
  readUint32,
  SETTING,
} from '@conch/protocol'
import { ConnectionError, FrameReader } from './frame-reader.ts'
import type { FrameHeader, FrameSink } from './frame-reader.ts'
import { checkHeaders, stripPadding } from './headers.ts'
import { Allowance, LIMITS } from './limits.ts'
import { Output } from './output.ts'
import { PingRules } from './ping-rules.ts'
import type { PingPolicy } from './ping-rules.ts'
import { H2Stream } from './stream.ts'
import type { StreamHandler, StreamOwner } from './stream.ts'

/** Milliseconds in which a client that was told off may still read why. */
const LINGER = 1_000

export interface ConnectionParts {
  readonly pings: PingPolicy
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
  readonly #output: Output
  readonly #reader = new FrameReader(this)
  readonly #headers = new HpackDecoder(LIMITS.headerList)
  readonly #streams = new Map<number, H2Stream>()
  /** Streams that wait for the connection's window or for the socket. */
  readonly #blocked = new Set<H2Stream>()
  readonly #idleFrames = new Allowance(LIMITS.idleFrames)
  readonly #resets = new Allowance(LIMITS.resets)
  readonly #pings: PingRules
  readonly #greeting: NodeJS.Timeout
  #prefaceLeft = PREFACE.length
  #greeted = false
  #lastStream = 0
  /** A header block that goes on in CONTINUATION frames. */
  #block: { header: FrameHeader; bytes: Uint8Array } | undefined = undefined
  #window = DEFAULT_WINDOW
  #streamWindow = DEFAULT_WINDOW
  #frameSize = DEFAULT_FRAME_SIZE
  /** Bytes that the client may still send on all streams, and those it was not yet told it may. */
  #allowed: number = LIMITS.connectionWindow
  #owed = 0
  #leaving = false
  #closed = false

  constructor(socket: Duplex, parts: ConnectionParts) {
    this.#socket = socket
    this.#parts = parts
    this.#output = new Output(socket)
    this.#pings = new PingRules(parts.pings, {
      ping: () => this.#sendPing(),
      lost: () => this.#socket.destroy(),
      calls: () => this.#streams.size,
    })
    this.#greeting = setTimeout(() => this.#socket.destroy(), LIMITS.greeting)
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('drain', () => this.#pumpBlocked())
    socket.on('error', () => undefined)
    socket.on('end', () => this.#socket.end())
    socket.on('close', () => this.#close())
    this.#sendSettings()
  }

  get calls(): number {
    return this.#streams.size
  }

  /** Takes no new calls; ends when the open ones have. */
  leave(): void {
    if (this.#leaving) return
    this.#leaving = true
    this.#goAway(H2_ERROR.NO_ERROR, '')
    this.#endWhenDone()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#output.hold()
    try {
      const rest = this.#prefaceLeft > 0 ? this.#checkPreface(chunk) : chunk
      if (rest.length > 0) this.#reader.push(rest)
      this.#grantConnection()
    } catch (error) {
      this.#fail(error)
    }
    this.#output.release()
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
    this.#goAway(code, text)
    this.#output.flush()
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
      stream.handler?.gone()
    }
    this.#streams.clear()
    this.#parts.closed(this)
  }

  // Frames in

  frame(header: FrameHeader, payload: Uint8Array): void {
    if (!this.#greeted && header.type !== FRAME.SETTINGS) refuse('the first frame must be SETTINGS')
    if (this.#block !== undefined && header.type !== FRAME.CONTINUATION) refuse('a header block was interrupted')
    switch (header.type) {
      case FRAME.HEADERS:
        this.#beginBlock(header, payload)
        break
      case FRAME.CONTINUATION:
        this.#continueBlock(header, payload)
        break
      case FRAME.DATA:
        this.#takePadded(header, payload)
        break
      case FRAME.WINDOW_UPDATE:
        this.#widen(header, payload)
        break
      case FRAME.RST_STREAM:
        this.#takeReset(header, payload)
        break
      case FRAME.SETTINGS:
        this.#takeSettings(header, payload)
        break
      case FRAME.PING:
        this.#takePing(header, payload)
        break
      case FRAME.PRIORITY:
        this.#countIdle()
        if (header.stream === 0 || payload.length !== 5) refuse('a bad PRIORITY frame')
        break
      case FRAME.PUSH_PROMISE:
        refuse('clients do not push')
        break
      case FRAME.GOAWAY:
        if (header.stream !== 0) refuse('GOAWAY on a stream')
        break
      default:
        this.#countIdle()
    }
  }

  data(header: FrameHeader, piece: Uint8Array, last: boolean): void {
    if (!this.#greeted) refuse('the first frame must be SETTINGS')
    if (this.#block !== undefined) refuse('a header block was interrupted')
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

  #beginBlock(header: FrameHeader, payload: Uint8Array): void {
    if (header.stream === 0 || header.stream % 2 === 0) refuse('HEADERS on a stream that is not a client’s')
    const block = stripPadding(header, payload)
    if ((header.flags & FLAG.END_HEADERS) !== 0) this.#takeHeaders(header, block)
    else this.#block = { header, bytes: block.slice() }
  }

  #continueBlock(header: FrameHeader, payload: Uint8Array): void {
    const block = this.#block
    if (block === undefined || block.header.stream !== header.stream) refuse('CONTINUATION without HEADERS')
    if (payload.length === 0) this.#countIdle()
    const size = block.bytes.length + payload.length
    if (size > LIMITS.headerBlock)
      throw new ConnectionError(H2_ERROR.ENHANCE_YOUR_CALM, `headers of over ${size} bytes`)
    const bytes = new Uint8Array(size)
    bytes.set(block.bytes)
    bytes.set(payload, block.bytes.length)
    this.#block = (header.flags & FLAG.END_HEADERS) === 0 ? { header: block.header, bytes } : undefined
    if (this.#block === undefined) this.#takeHeaders(block.header, bytes)
  }

  #takeHeaders({ stream: id, flags }: FrameHeader, block: Uint8Array): void {
    const list = this.#headers.decode(block)
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
    if (this.#leaving || this.#streams.size >= LIMITS.streams) return this.#sendReset(id, H2_ERROR.REFUSED_STREAM)
    if (list !== undefined && !checkHeaders(list)) return this.#sendReset(id, H2_ERROR.PROTOCOL_ERROR)
    const stream = new H2Stream(this, { id, headers: list ?? [], window: this.#streamWindow })
    this.#streams.set(id, stream)
    this.#pings.work()
    stream.handler = this.#parts.open(stream, list === undefined)
    if (ends) this.#endRemote(stream)
  }

  #widen({ stream: id }: FrameHeader, payload: Uint8Array): void {
    if (payload.length !== 4) throw new ConnectionError(H2_ERROR.FRAME_SIZE_ERROR, 'a bad WINDOW_UPDATE')
    const more = readUint32(payload, 0) & MAX_WINDOW
    if (id === 0) {
      this.#window += more
      if (more === 0 || this.#window > MAX_WINDOW)
        throw new ConnectionError(H2_ERROR.FLOW_CONTROL_ERROR, 'a bad window')
      this.#pumpBlocked()
      return
    }
    const stream = this.#streams.get(id)
    if (stream === undefined) {
      if (id > this.#lastStream) refuse('WINDOW_UPDATE on an idle stream')
      return
    }
    stream.window += more
    if (more === 0 || stream.window > MAX_WINDOW) this.reset(stream, H2_ERROR.FLOW_CONTROL_ERROR)
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
    this.#output.frame({ size: 0, type: FRAME.SETTINGS, flags: FLAG.ACK, stream: 0 })
  }

  #apply(setting: number, value: number): void {
    if (setting === SETTING.MAX_FRAME_SIZE) {
      if (value < DEFAULT_FRAME_SIZE || value > 2 ** 24 - 1) refuse('a bad frame size')
      this.#frameSize = value
    } else if (setting === SETTING.ENABLE_PUSH) {
      if (value > 1) refuse('a bad ENABLE_PUSH')
    } else if (setting === SETTING.INITIAL_WINDOW_SIZE) {
      if (value > MAX_WINDOW) throw new ConnectionError(H2_ERROR.FLOW_CONTROL_ERROR, 'a bad window size')
      const change = value - this.#streamWindow
      this.#streamWindow = value
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
    this.#output.frame({ size: 8, type: FRAME.PING, flags: FLAG.ACK, stream: 0 })
    this.#output.bytes(payload)
  }

  #countIdle(): void {
    if (!this.#idleFrames.take())
      throw new ConnectionError(H2_ERROR.ENHANCE_YOUR_CALM, 'too many frames without content')
  }

  // Frames out

  #sendSettings(): void {
    const settings = [
      [SETTING.MAX_CONCURRENT_STREAMS, LIMITS.streams],
      [SETTING.INITIAL_WINDOW_SIZE, LIMITS.streamWindow],
      [SETTING.MAX_FRAME_SIZE, LIMITS.frame],
      [SETTING.MAX_HEADER_LIST_SIZE, LIMITS.headerList],
    ] as const
    this.#output.frame({ size: settings.length * 6, type: FRAME.SETTINGS, flags: 0, stream: 0 })
    for (const [setting, value] of settings) {
      this.#output.bytes(Uint8Array.of(0, setting))
      this.#output.uint32(value)
    }
    this.#sendWindow(0, LIMITS.connectionWindow - DEFAULT_WINDOW)
  }

  #sendWindow(stream: number, more: number): void {
    this.#output.frame({ size: 4, type: FRAME.WINDOW_UPDATE, flags: 0, stream })
    this.#output.uint32(more)
  }

  #grantConnection(): void {
    if (this.#owed < LIMITS.connectionWindow / 2) return
    this.#sendWindow(0, this.#owed)
    this.#allowed += this.#owed
    this.#owed = 0
  }

  /** Lets the client send more on a stream once it owes more than `least`. */
  grant(stream: H2Stream, least: number): void {
    if (stream.paused || stream.remoteClosed || stream.owed <= least) return
    this.#sendWindow(stream.id, stream.owed)
    stream.allowed += stream.owed
    stream.owed = 0
  }

  writeHeaders(stream: H2Stream, block: Uint8Array, end: boolean): void {
    const flags = FLAG.END_HEADERS | (end ? FLAG.END_STREAM : 0)
    this.#output.frame({ size: block.length, type: FRAME.HEADERS, flags, stream: stream.id })
    this.#output.bytes(block)
    this.#pings.work()
    if (end) this.#endLocal(stream)
  }

  /** Sends what waits on a stream, as far as both windows and the socket allow. */
  pump(stream: H2Stream): void {
    const { waiting } = stream
    while (waiting.length > 0) {
      const next = waiting[0]
      if (next === undefined) break
      if ('trailers' in next) {
        waiting.length = 0
        this.writeHeaders(stream, next.trailers, true)
        break
      }
      const size = Math.min(next.bytes.length - next.from, stream.window, this.#window, this.#frameSize)
      if (size <= 0 || this.#output.unsent > LIMITS.unsent) {
        this.#blocked.add(stream)
        return
      }
      this.#sendData(
        stream,
        next.from === 0 && size === next.bytes.length ? next.bytes : next.bytes.subarray(next.from, next.from + size),
      )
      next.from += size
      if (next.from === next.bytes.length) waiting.shift()
    }
    this.#blocked.delete(stream)
    if (stream.backlog === 0) stream.handler?.drained()
  }

  #sendData(stream: H2Stream, bytes: Uint8Array): void {
    stream.window -= bytes.length
    stream.backlog -= bytes.length
    this.#window -= bytes.length
    this.#output.frame({ size: bytes.length, type: FRAME.DATA, flags: 0, stream: stream.id })
    this.#output.bytes(bytes)
    // Only what has been written counts as unsent: large bodies are written as they are cut.
    if (bytes.length >= DEFAULT_FRAME_SIZE / 2) this.#output.flush()
  }

  #pumpBlocked(): void {
    for (const stream of this.#blocked) this.pump(stream)
  }

  #endLocal(stream: H2Stream): void {
    stream.localClosed = true
    if (stream.remoteClosed) {
      this.#forget(stream)
      return
    }
    // The client still sends what nobody reads.
    this.#sendReset(stream.id, H2_ERROR.NO_ERROR)
    this.#forget(stream)
  }

  reset(stream: H2Stream, code: number): void {
    if (!this.#streams.has(stream.id)) return
    this.#sendReset(stream.id, code)
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
    this.#blocked.delete(stream)
    this.#endWhenDone()
  }

  #endWhenDone(): void {
    if (!this.#leaving || this.#streams.size > 0) return
    this.#output.flush()
    this.#socket.end()
  }

  #sendReset(stream: number, code: number): void {
    this.#output.frame({ size: 4, type: FRAME.RST_STREAM, flags: 0, stream })
    this.#output.uint32(code)
  }

  #sendPing(): void {
    this.#output.frame({ size: 8, type: FRAME.PING, flags: 0, stream: 0 })
    this.#output.uint32(0)
    this.#output.uint32(0)
  }

  #goAway(code: number, text: string): void {
    const reason = Buffer.from(text.slice(0, 100))
    this.#output.frame({ size: 8 + reason.length, type: FRAME.GOAWAY, flags: 0, stream: 0 })
    this.#output.uint32(this.#lastStream)
    this.#output.uint32(code)
    this.#output.bytes(reason)
  }
}

function refuse(what: string): never {
  throw new ConnectionError(H2_ERROR.PROTOCOL_ERROR, what)
}
