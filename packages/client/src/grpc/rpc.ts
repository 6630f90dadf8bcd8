import { MessageError, MessageReader, type EncodedMessage, type HeaderList } from '@conch/protocol'
import { callSignal, type Compression, type RpcOptions } from '../call-options.ts'
import { ClientError, describeAbort, grpcCode, toClientError } from '../error.ts'
import type { Channel } from './channel.ts'
import { compressMessage, expandMessage } from './compression.ts'
import type { Connection } from './h2/connection.ts'
import type { ClientStream, StreamSink } from './h2/stream.ts'
import { encodeHead } from './head.ts'

/** What comes of a call. After `ended` nothing more comes. */
export interface RpcSink {
  /** Owned by the taker. */
  message(bytes: Uint8Array): void
  /** undefined = status OK. */
  ended(error: ClientError | undefined): void
  drained?(): void
}

/** One gRPC call, from its headers to its status (gRPC over HTTP/2). It ends in exactly one way. */
export class Rpc implements StreamSink {
  readonly #connection: Connection
  readonly #stream: ClientStream
  readonly #sink: RpcSink
  readonly #reader: MessageReader
  readonly #compression: Compression | undefined
  readonly #limit: number
  readonly #signal: AbortSignal | undefined
  readonly #onAbort = () => this.cancel(describeAbort(this.#signal as AbortSignal))
  #encoding = 'identity'
  /** Begins as what is true when no status comes. */
  #status: ClientError | undefined = new ClientError('UNKNOWN', 'the server ended the call without a status')
  #ended = false
  /** Messages that are being expanded or compressed; those behind them wait. */
  #incoming: Promise<void> | undefined = undefined
  #outgoing: Promise<void> | undefined = undefined

  constructor(channel: Channel, call: { method: string; options: RpcOptions; limit: number }, sink: RpcSink) {
    const { method, options, limit } = call
    this.#sink = sink
    this.#limit = limit
    this.#compression = options.requestCompression
    this.#signal = callSignal(options)
    if (this.#signal?.aborted === true) throw describeAbort(this.#signal)
    this.#reader = new MessageReader(limit, (message, compressed) => this.#take(message, compressed))
    this.#connection = channel.connection
    this.#stream = this.#connection.open(encodeHead(channel, method, options), this)
    this.#signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** Bytes of messages that have not left. */
  get backlog(): number {
    return this.#stream.backlog
  }

  send(message: EncodedMessage, end: boolean): void {
    if (this.#compression === undefined) {
      this.#write(message.parts, { size: message.size, compressed: 0, end })
      return
    }
    const compression = this.#compression
    const before = this.#outgoing ?? Promise.resolve()
    this.#outgoing = before.then(async () => {
      const bytes = await compressMessage(Buffer.concat(message.parts), compression)
      this.#write([bytes], { size: bytes.length, compressed: 1, end })
    })
  }

  /** No further messages. */
  end(): void {
    if (this.#outgoing === undefined) this.#finish()
    else void this.#outgoing.then(() => this.#finish())
  }

  cancel(error: ClientError): void {
    if (this.#ended) return
    this.#connection.cancel(this.#stream)
    this.#end(error)
  }

  pause(): void {
    this.#connection.pause(this.#stream)
  }

  resume(): void {
    this.#connection.resume(this.#stream)
  }

  #finish(): void {
    if (!this.#ended) this.#connection.send(this.#stream, NOTHING, true)
  }

  #write(
    parts: readonly Uint8Array[],
    { size, compressed, end }: { size: number; compressed: 0 | 1; end: boolean },
  ): void {
    if (this.#ended) return
    const prefix = Buffer.allocUnsafe(5)
    prefix[0] = compressed
    prefix.writeUInt32BE(size, 1)
    const pieces = size <= SMALL ? [Buffer.concat([prefix, ...parts], size + 5)] : [prefix, ...parts]
    this.#connection.send(this.#stream, pieces, end)
  }

  // From the server

  headers(list: HeaderList, end: boolean): void {
    if (this.#ended) return
    const status = find(list, ':status')
    if (status !== undefined) this.#readHead(list, status)
    if (end || status === undefined) this.#readStatus(list)
  }

  data(piece: Uint8Array): void {
    if (this.#ended) return
    try {
      this.#reader.push(piece)
    } catch (error) {
      this.cancel(error instanceof MessageError ? describeMessage(error) : toClientError(error))
    }
  }

  closed(error: Error | undefined): void {
    const ending = error === undefined ? this.#status : toClientError(error)
    if (this.#incoming === undefined) this.#end(ending)
    else void this.#incoming.then(() => this.#end(ending))
  }

  drained(): void {
    if (!this.#ended) this.#sink.drained?.()
  }

  #readHead(list: HeaderList, status: string): void {
    this.#encoding = find(list, 'grpc-encoding') ?? 'identity'
    if (status === '200' && (find(list, 'content-type') ?? '').startsWith('application/grpc')) return
    const code = UNAVAILABLE.has(status) ? 'UNAVAILABLE' : 'UNKNOWN'
    this.cancel(new ClientError(code, `the server answered with HTTP status ${status} and no gRPC`))
  }

  #readStatus(list: HeaderList): void {
    const status = find(list, 'grpc-status')
    if (status === undefined) return
    const message = decodeMessage(find(list, 'grpc-message') ?? '')
    this.#status =
      status === '0' ? undefined : new ClientError(grpcCode(Number(status)), message, { status: Number(status) })
  }

  #take(message: Uint8Array, compressed: boolean): void {
    if (!compressed && this.#incoming === undefined) {
      this.#sink.message(message)
      return
    }
    const expanded = compressed ? expandMessage(message, this.#encoding, this.#limit) : Promise.resolve(message)
    const before = this.#incoming ?? Promise.resolve()
    this.#incoming = before.then(async () => {
      try {
        const ready = await expanded
        if (!this.#ended) this.#sink.message(ready)
      } catch (error) {
        this.cancel(toClientError(error))
      }
    })
    // Whoever waits before it may end the call; its own failure is then nobody's.
    expanded.catch(() => undefined)
  }

  #end(error: ClientError | undefined): void {
    if (this.#ended) return
    this.#ended = true
    this.#signal?.removeEventListener('abort', this.#onAbort)
    const cut = error === undefined && !this.#reader.isComplete
    this.#sink.ended(cut ? new ClientError('INTERNAL', 'the answer ends inside a message') : error)
  }
}

/** HTTP statuses of proxies that may do better later. */
const UNAVAILABLE: ReadonlySet<string> = new Set(['429', '502', '503', '504'])
const NOTHING: readonly Uint8Array[] = []
/** Messages up to this many bytes leave as one piece. */
const SMALL = 16_384

function find(list: HeaderList, name: string): string | undefined {
  for (let i = 0; i < list.length; i += 2) if (list[i] === name) return list[i + 1]
  return undefined
}

function describeMessage(error: MessageError): ClientError {
  return new ClientError(error.tooLarge ? 'RESOURCE_EXHAUSTED' : 'INTERNAL', error.message, { cause: error })
}

/** `grpc-message` is percent-encoded UTF-8; what is not stays as it is. */
function decodeMessage(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
