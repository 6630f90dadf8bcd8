import type { Socket } from 'node:net'
import {
  DEFAULT_FRAME_SIZE,
  DEFAULT_WINDOW,
  FLAG,
  FRAME,
  type FrameHeader,
  FrameReader,
  type FrameSink,
  H2_ERROR,
  type HeaderBlock,
  HeaderBlocks,
  PREFACE,
  readUint32,
  SETTING,
  stripPadding,
} from '@conch/protocol'
import { ClientError } from '../../error.ts'
import { KeepAlive, type KeepAliveOptions } from './keep-alive.ts'
import { Output } from './output.ts'
import { ClientStream, type StreamSink } from './stream.ts'

const LIMITS = { frame: 2 ** 20, controlFrame: 65_536, headerList: 65_536, headerBlock: 131_072 }
/** Bytes that the server may send on a stream, and on all of them, before it is told to go on. */
const STREAM_WINDOW = 8 * 2 ** 20
const CONNECTION_WINDOW = 64 * 2 ** 20
/** Bytes written that the server has not taken; then streams wait. */
const UNSENT = 4 * 2 ** 20
const EMPTY = new Uint8Array(0)

/** The client's half of one HTTP/2 connection (RFC 9113): as many streams as the server takes, the others wait. */
export class Connection implements FrameSink {
  readonly #socket: Socket
  readonly #output: Output
  readonly #reader = new FrameReader(this, LIMITS)
  readonly #blocks = new HeaderBlocks(LIMITS)
  readonly #streams = new Map<number, ClientStream>()
  /** Streams that have not begun, and those that wait for a window or the socket. */
  #queue: ClientStream[] = []
  readonly #blocked = new Set<ClientStream>()
  readonly #keepAlive: KeepAlive
  readonly #gone: () => void
  #nextId = 1
  #window = DEFAULT_WINDOW
  #streamWindow = DEFAULT_WINDOW
  #frameSize = DEFAULT_FRAME_SIZE
  #mostStreams = 2 ** 31
  #owed = 0
  #failure: Error | undefined = undefined
  /** No new streams: the server is leaving, or the identifiers are used up. */
  #leaving = false

  /** `gone` is called once, when no new stream can begin here. */
  constructor(socket: Socket, keepAlive: KeepAliveOptions, gone: () => void) {
    this.#socket = socket
    this.#gone = gone
    this.#output = new Output(socket)
    this.#keepAlive = new KeepAlive(keepAlive, {
      ping: () => this.#output.frame({ size: 8, type: FRAME.PING, flags: 0, stream: 0 }, new Uint8Array(8)),
      lost: () => this.destroy(new ClientError('UNAVAILABLE', 'the server does not answer pings')),
      calls: () => this.#streams.size,
    })
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('drain', () => this.#pumpBlocked())
    socket.on('error', (error) => (this.#failure ??= error))
    socket.on('close', () => this.#close())
    this.#output.raw(Buffer.from(PREFACE, 'latin1'))
    this.#sendSettings()
  }

  get streams(): number {
    return this.#streams.size + this.#queue.length
  }

  open(head: Uint8Array, sink: StreamSink): ClientStream {
    const stream = new ClientStream(head, sink)
    // Only calls keep the process alive.
    if (this.streams === 0) this.#socket.ref()
    this.#queue.push(stream)
    this.#begin()
    return stream
  }

  /** Nothing for a stream that is over. */
  send(stream: ClientStream, pieces: readonly Uint8Array[], end: boolean): void {
    if (stream.id !== 0 && !this.#streams.has(stream.id)) return
    for (const bytes of pieces) if (bytes.length > 0) stream.waiting.push({ bytes, from: 0 })
    stream.ended ||= end
    if (stream.id !== 0) this.#pump(stream)
  }

  /** Gives a stream up; its sink hears no more. */
  cancel(stream: ClientStream): void {
    if (stream.id === 0) this.#queue = this.#queue.filter((one) => one !== stream)
    else if (this.#streams.has(stream.id)) {
      this.#output.words(FRAME.RST_STREAM, stream.id, [H2_ERROR.CANCEL])
      this.#forget(stream)
    }
  }

  pause(stream: ClientStream): void {
    stream.paused = true
  }

  resume(stream: ClientStream): void {
    stream.paused = false
    this.#grant(stream)
  }

  destroy(error?: Error): void {
    this.#failure ??= error
    this.#socket.destroy()
  }

  #sendSettings(): void {
    const settings = [
      [SETTING.ENABLE_PUSH, 0],
      [SETTING.INITIAL_WINDOW_SIZE, STREAM_WINDOW],
      [SETTING.MAX_FRAME_SIZE, LIMITS.frame],
      [SETTING.MAX_HEADER_LIST_SIZE, LIMITS.headerList],
    ] as const
    const payload = Buffer.alloc(settings.length * 6)
    settings.forEach(([setting, value], index) => {
      payload.writeUInt16BE(setting, index * 6)
      payload.writeUInt32BE(value, index * 6 + 2)
    })
    this.#output.frame({ size: payload.length, type: FRAME.SETTINGS, flags: 0, stream: 0 }, payload)
    this.#output.words(FRAME.WINDOW_UPDATE, 0, [CONNECTION_WINDOW - DEFAULT_WINDOW])
  }

  // What goes out

  #begin(): void {
    while (this.#queue.length > 0 && this.#streams.size < this.#mostStreams && !this.#leaving) {
      const stream = this.#queue.shift() as ClientStream
      stream.id = this.#nextId
      stream.window = this.#streamWindow
      this.#nextId += 2
      this.#streams.set(stream.id, stream)
      this.#keepAlive.touch()
      const header = { size: stream.head.length, type: FRAME.HEADERS, flags: FLAG.END_HEADERS, stream: stream.id }
      this.#output.frame(header, stream.head)
      this.#pump(stream)
      if (this.#nextId > 2 ** 31 - 1) this.#leave()
    }
  }

  #pump(stream: ClientStream): void {
    for (let next = stream.waiting[0]; next !== undefined; next = stream.waiting[0]) {
      const { bytes, from } = next
      const size = Math.min(bytes.length - from, stream.window, this.#window, this.#frameSize)
      if (size <= 0 || this.#output.unsent > UNSENT) {
        this.#blocked.add(stream)
        return
      }
      next.from += size
      if (next.from === bytes.length) stream.waiting.shift()
      this.#sendData(stream, size === bytes.length ? bytes : bytes.subarray(from, from + size))
    }
    this.#blocked.delete(stream)
    if (stream.ended && !stream.finished) this.#sendData(stream, EMPTY)
    else stream.sink.drained?.()
  }

  #sendData(stream: ClientStream, bytes: Uint8Array): void {
    stream.window -= bytes.length
    this.#window -= bytes.length
    const end = stream.ended && stream.waiting.length === 0
    stream.finished = end
    const flags = end ? FLAG.END_STREAM : 0
    this.#output.frame({ size: bytes.length, type: FRAME.DATA, flags, stream: stream.id }, bytes)
  }

  #pumpBlocked(): void {
    for (const stream of this.#blocked) this.#pump(stream)
  }

  // What comes in

  #take(chunk: Buffer): void {
    try {
      this.#keepAlive.heard()
      this.#reader.push(chunk)
    } catch (error) {
      this.destroy(error instanceof Error ? error : undefined)
    }
  }

  frame(header: FrameHeader, payload: Uint8Array): void {
    if (this.#blocks.isOpen && header.type !== FRAME.CONTINUATION) throw new Error('a header block is cut in two')
    switch (header.type) {
      case FRAME.HEADERS:
        return this.#takeHeaders(this.#blocks.begin(header, payload))
      case FRAME.CONTINUATION:
        return this.#takeHeaders(this.#blocks.goOn(header, payload))
      case FRAME.DATA:
        return this.#takePadded(header, payload)
      case FRAME.RST_STREAM:
        return this.#takeReset(header, payload)
      case FRAME.SETTINGS:
        return this.#takeSettings(header, payload)
      case FRAME.PING:
        return this.#takePing(header, payload)
      case FRAME.GOAWAY:
        return this.#takeGoAway(payload)
      case FRAME.WINDOW_UPDATE:
        return this.#widen(header, payload)
      default:
    }
  }

  data(header: FrameHeader, piece: Uint8Array, last: boolean): void {
    const stream = this.#streams.get(header.stream)
    this.#owed += piece.length
    if (this.#owed > CONNECTION_WINDOW / 2) {
      this.#output.words(FRAME.WINDOW_UPDATE, 0, [this.#owed])
      this.#owed = 0
    }
    if (stream === undefined) return
    stream.owed += piece.length
    stream.sink.data(piece)
    if (last && (header.flags & FLAG.END_STREAM) !== 0) this.#end(stream)
    else if (!stream.paused && stream.owed > STREAM_WINDOW / 2) this.#grant(stream)
  }

  #takePadded(header: FrameHeader, payload: Uint8Array): void {
    const piece = stripPadding(header, payload)
    const stream = this.#streams.get(header.stream)
    // Padding counts for the windows as well.
    this.#owed += payload.length - piece.length
    if (stream !== undefined) stream.owed += payload.length - piece.length
    this.data(header, piece, true)
  }

  #grant(stream: ClientStream): void {
    if (stream.owed === 0 || !this.#streams.has(stream.id)) return
    this.#output.words(FRAME.WINDOW_UPDATE, stream.id, [stream.owed])
    stream.owed = 0
  }

  #takeHeaders(block: HeaderBlock | undefined): void {
    if (block === undefined) return
    const stream = this.#streams.get(block.header.stream)
    if (stream === undefined) return
    const end = (block.header.flags & FLAG.END_STREAM) !== 0
    if (block.list === undefined) {
      this.#fail(
        stream,
        new ClientError('RESOURCE_EXHAUSTED', `the server sent headers of over ${LIMITS.headerList} bytes`),
      )
      return
    }
    stream.sink.headers(block.list, end)
    if (end) this.#end(stream)
  }

  #end(stream: ClientStream): void {
    // An answer may be complete before the request is: the rest of that is not wanted.
    if (!stream.finished && this.#streams.has(stream.id))
      this.#output.words(FRAME.RST_STREAM, stream.id, [H2_ERROR.NO_ERROR])
    this.#forget(stream)
    stream.sink.closed(undefined)
  }

  #fail(stream: ClientStream, error: Error): void {
    if (!this.#streams.has(stream.id)) return
    this.#output.words(FRAME.RST_STREAM, stream.id, [H2_ERROR.CANCEL])
    this.#forget(stream)
    stream.sink.closed(error)
  }

  #forget(stream: ClientStream): void {
    this.#streams.delete(stream.id)
    this.#blocked.delete(stream)
    stream.waiting.length = 0
    this.#begin()
    if (this.streams === 0) this.#socket.unref()
    this.#endWhenDone()
  }

  #takeReset(header: FrameHeader, payload: Uint8Array): void {
    const stream = this.#streams.get(header.stream)
    if (stream === undefined) return
    this.#forget(stream)
    stream.sink.closed(describeReset(readUint32(payload, 0)))
  }

  #takeSettings(header: FrameHeader, payload: Uint8Array): void {
    if ((header.flags & FLAG.ACK) !== 0) return
    for (let at = 0; at + 6 <= payload.length; at += 6) {
      this.#takeSetting(((payload[at] ?? 0) << 8) | (payload[at + 1] ?? 0), readUint32(payload, at + 2))
    }
    this.#output.frame({ size: 0, type: FRAME.SETTINGS, flags: FLAG.ACK, stream: 0 }, EMPTY)
    this.#begin()
    this.#pumpBlocked()
  }

  #takeSetting(setting: number, value: number): void {
    if (setting === SETTING.MAX_CONCURRENT_STREAMS) this.#mostStreams = value
    else if (setting === SETTING.MAX_FRAME_SIZE) this.#frameSize = value
    else if (setting === SETTING.INITIAL_WINDOW_SIZE) {
      for (const stream of this.#streams.values()) stream.window += value - this.#streamWindow
      this.#streamWindow = value
    }
  }

  #takePing(header: FrameHeader, payload: Uint8Array): void {
    if ((header.flags & FLAG.ACK) !== 0) return
    this.#output.frame({ size: 8, type: FRAME.PING, flags: FLAG.ACK, stream: 0 }, payload.slice())
  }

  #takeGoAway(payload: Uint8Array): void {
    const last = readUint32(payload, 0) % 2 ** 31
    const reason = `the server closes the connection: ${Buffer.from(payload.subarray(8)).toString('latin1')}`
    this.#failure ??= new ClientError('UNAVAILABLE', reason)
    this.#leave()
    for (const stream of this.#streams.values()) if (stream.id > last) this.#fail(stream, this.#failure)
    this.#endWhenDone()
  }

  #widen(header: FrameHeader, payload: Uint8Array): void {
    const more = readUint32(payload, 0) % 2 ** 31
    const stream = this.#streams.get(header.stream)
    if (header.stream === 0) {
      this.#window += more
      this.#pumpBlocked()
    } else if (stream !== undefined) {
      stream.window += more
      this.#pump(stream)
    }
  }

  // The end

  #leave(): void {
    if (this.#leaving) return
    this.#leaving = true
    this.#gone()
    const error = this.#failure ?? new ClientError('UNAVAILABLE', 'the connection is used up')
    for (const stream of this.#queue.splice(0)) stream.sink.closed(error)
  }

  #endWhenDone(): void {
    if (this.#leaving && this.#streams.size === 0) this.#socket.end()
  }

  #close(): void {
    this.#keepAlive.stop()
    const error = this.#failure ?? new Error('the server closed the connection')
    this.#failure = error
    this.#leave()
    const streams = [...this.#streams.values()]
    this.#streams.clear()
    for (const stream of streams) stream.sink.closed(error)
  }
}

/** What a reset says to a gRPC client (gRPC over HTTP/2, "Errors"). */
function describeReset(code: number): ClientError {
  const text = `the server ended the call with HTTP/2 error ${code}`
  if (code === H2_ERROR.REFUSED_STREAM) return new ClientError('UNAVAILABLE', text)
  if (code === H2_ERROR.CANCEL) return new ClientError('CANCELLED', text)
  if (code === H2_ERROR.ENHANCE_YOUR_CALM) return new ClientError('RESOURCE_EXHAUSTED', text)
  return new ClientError('INTERNAL', text)
}
