import { encodeHeaders, H2_ERROR, MessageReader } from '@conch/protocol'
import type { EncodedMessage } from '@conch/protocol'
import { chooseEncoding, compress, expand, MOST_INFLATION, QUICK } from './compression.ts'
import type { CompressionLevel, Encoding } from './compression.ts'
import type { Face } from './face.ts'
import type { H2Stream, StreamHandler } from './http2/stream.ts'
import { describeError, encodeStatusMessage, GrpcError, STATUS } from './status.ts'

const ACCEPTED = ['grpc-accept-encoding', 'identity,deflate,gzip'] as const
const PLAIN_HEADERS = [':status', '200', 'content-type', 'application/grpc']
const HEADERS = encodeHeaders([...PLAIN_HEADERS, ...ACCEPTED])
const GZIP_HEADERS = encodeHeaders([...PLAIN_HEADERS, 'grpc-encoding', 'gzip', ...ACCEPTED])
const DEFLATE_HEADERS = encodeHeaders([...PLAIN_HEADERS, 'grpc-encoding', 'deflate', ...ACCEPTED])
const OK = encodeHeaders(['grpc-status', '0'])
const OK_WITH_MESSAGE = encodeHeaders(['grpc-status', '0', 'grpc-message', ''])
/** Answers up to this many bytes leave as one piece. */
const SMALL = 16_384

/** What a method does with the messages of its call. What it throws ends the call. */
export interface CallHandler {
  message(bytes: Uint8Array): void
  /** The client will send no more messages. */
  end(): void
  /** Nobody waits for an answer any more. */
  gone(): void
  drained(): void
}

/** One call, from its headers to its status. It ends in exactly one way. */
export class Call implements StreamHandler {
  readonly face: Face
  /** Of all messages of the answer. */
  sentBytes = 0
  readonly #stream: H2Stream
  readonly #reader: MessageReader
  readonly #controller = new AbortController()
  #handler: CallHandler | undefined = undefined
  #deadline: NodeJS.Timeout | undefined = undefined
  #encoding: Encoding | undefined = undefined
  #responded = false
  #ended = false
  /** Bytes of `face.bodies` that its messages take. */
  #held = 0
  /** Messages that are being decompressed; those after them wait. */
  #expanding: Promise<void> | undefined = undefined

  constructor(face: Face, stream: H2Stream) {
    this.face = face
    this.#stream = stream
    this.#reader = new MessageReader(face.limits.message, (message, compressed) => this.#take(message, compressed))
  }

  /** Aborted when the client is gone, gave up, or waited until its deadline. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get done(): boolean {
    return this.#ended
  }

  /** Bytes of the answer that the client has not taken. */
  get backlog(): number {
    return this.#stream.backlog
  }

  /** Name, value, name, value … names in lower case. */
  get metadata(): readonly string[] {
    return this.#stream.headers
  }

  header(name: string): string | undefined {
    const { headers } = this.#stream
    for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return headers[i + 1]
    return undefined
  }

  start(handler: CallHandler, timeoutMs: number | undefined): void {
    this.#handler = handler
    if (timeoutMs === undefined) return
    this.#deadline = setTimeout(
      () => this.fail(new GrpcError(STATUS.DEADLINE_EXCEEDED, 'Deadline Exceeded')),
      Math.min(timeoutMs, 2 ** 31 - 1),
    )
  }

  // From the client

  data(piece: Uint8Array): void {
    if (this.#ended || !this.#hold(piece.length)) return
    this.#guard(() => this.#reader.push(piece))
  }

  end(): void {
    if (this.#ended) return
    if (!this.#reader.isComplete) this.fail(new GrpcError(STATUS.INTERNAL, 'the request ends inside a message'))
    if (this.#expanding === undefined) this.#guard(() => this.#handler?.end())
    else void this.#expanding.then(() => this.#guard(() => this.#handler?.end()))
  }

  gone(): void {
    if (this.#ended) return
    this.#finish()
    this.#controller.abort()
    this.#handler?.gone()
  }

  drained(): void {
    if (!this.#ended) this.#handler?.drained()
  }

  /** The client is not to send more messages for now. */
  pause(): void {
    this.#stream.pause()
  }

  resume(): void {
    this.#stream.resume()
  }

  #take(message: Uint8Array, compressed: boolean): void {
    if (!compressed && this.#expanding === undefined) {
      this.#handler?.message(message)
      return
    }
    const expanded = compressed ? this.#expand(message) : message
    if (!(expanded instanceof Promise) && this.#expanding === undefined) {
      if (this.#hold(expanded.length - message.length)) this.#handler?.message(expanded)
      return
    }
    const before = this.#expanding ?? Promise.resolve()
    this.#expanding = before.then(async () => {
      try {
        const ready = await expanded
        if (!this.#ended && this.#hold(ready.length - message.length)) this.#handler?.message(ready)
      } catch (error) {
        this.fail(error)
      }
    })
  }

  /** A message that may become large waits until all that are expanded together have room for it. */
  #expand(message: Uint8Array): Uint8Array | Promise<Uint8Array> {
    const { limits, inflating } = this.face
    const encoding = this.header('grpc-encoding')
    if (message.length <= QUICK) return expand(message, encoding, limits.inflated)
    const most = Math.min(message.length * MOST_INFLATION, limits.inflated)
    return inflating.take(most).then(async () => {
      try {
        return this.#ended ? message : await expand(message, encoding, limits.inflated)
      } finally {
        inflating.giveBack(most)
      }
    })
  }

  /** Counts bytes that have come. False, and the call is over, when there is no room for them. */
  #hold(bytes: number): boolean {
    const { bodies } = this.face
    if (!bodies.take(bytes)) {
      this.fail(bodies.refuse())
      return false
    }
    this.#held += bytes
    return true
  }

  /** Nobody works any more on messages of so many bytes; what is left is given back with the end of the call. */
  release(bytes: number): void {
    const free = Math.min(bytes, this.#held)
    this.#held -= free
    this.face.bodies.giveBack(free)
  }

  #guard(act: () => void): void {
    if (this.#ended) return
    try {
      act()
    } catch (error) {
      this.fail(error)
    }
  }

  // To the client

  /** The one answer of a unary call, and its end. */
  answer(message: EncodedMessage, level?: CompressionLevel): void {
    if (this.#ended) return
    const encoding = level === undefined ? undefined : chooseEncoding(this.header('grpc-accept-encoding'))
    if (level !== undefined && encoding !== undefined) {
      void this.#answerCompressed(message, encoding, level)
      return
    }
    this.send(message)
    this.finish()
  }

  async #answerCompressed(message: EncodedMessage, encoding: Encoding, level: CompressionLevel): Promise<void> {
    this.#encoding = encoding
    const bytes = await compress(Buffer.concat(message.parts), encoding, level)
    this.#write({ parts: [bytes], size: bytes.length }, 1)
    this.finish()
  }

  /** One message of an answer. */
  send(message: EncodedMessage): void {
    this.#write(message, 0)
  }

  #write({ parts, size }: EncodedMessage, compressed: 0 | 1): void {
    if (this.#ended) return
    this.#respond()
    this.sentBytes += size
    const [first, ...rest] = parts
    if (size <= SMALL || first === undefined) {
      const whole = frame(size, compressed, size)
      let at = 5
      for (const part of parts) {
        whole.set(part, at)
        at += part.length
      }
      this.#stream.write([whole])
      return
    }
    const head = frame(size, compressed, first.length)
    head.set(first, 5)
    this.#stream.write([head, ...rest])
  }

  /** Ends the call well. */
  finish(): void {
    if (this.#ended) return
    const responded = this.#responded
    this.#respond()
    this.#finish()
    this.#stream.end(responded ? OK : OK_WITH_MESSAGE)
  }

  /** Ends the call with a status; whatever still runs for it is cancelled. */
  fail(error: unknown): void {
    if (this.#ended) return
    const { status, message } = describeError(error)
    const fields = ['grpc-status', String(status), 'grpc-message', encodeStatusMessage(message)]
    const responded = this.#responded
    this.#finish()
    if (responded) this.#stream.end(encodeHeaders(fields))
    else this.#stream.respond(encodeHeaders([...PLAIN_HEADERS, ...fields]), true)
    if (this.#controller.signal.aborted) return
    this.#controller.abort()
    this.#handler?.gone()
  }

  /** What is no gRPC call at all gets an HTTP status. */
  refuse(httpStatus: number): void {
    this.#finish()
    this.#stream.respond(encodeHeaders([':status', String(httpStatus)]), true)
  }

  reset(): void {
    this.#finish()
    this.#stream.reset(H2_ERROR.CANCEL)
  }

  #respond(): void {
    if (this.#responded) return
    this.#responded = true
    this.#stream.respond(
      this.#encoding === undefined ? HEADERS : this.#encoding === 'gzip' ? GZIP_HEADERS : DEFLATE_HEADERS,
      false,
    )
  }

  #finish(): void {
    this.#ended = true
    this.release(this.#held)
    if (this.#deadline !== undefined) clearTimeout(this.#deadline)
  }
}

/** A message's prefix, with room for `room` bytes behind it. */
function frame(size: number, compressed: 0 | 1, room: number): Uint8Array {
  const bytes = new Uint8Array(room + 5)
  bytes[0] = compressed
  bytes[1] = size >>> 24
  bytes[2] = size >>> 16
  bytes[3] = size >>> 8
  bytes[4] = size
  return bytes
}
