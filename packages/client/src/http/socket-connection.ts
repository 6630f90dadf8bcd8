import type { Socket } from 'node:net'
import { describeAbort } from '../error.ts'
import { ResponseReader, type ResponseSink } from './response-reader.ts'
import { byteLength, type HttpHead, type HttpRequest } from './transport.ts'

/** Who is told of one exchange. After `end` or `failed` nothing more comes. */
export interface ExchangeSink {
  head(head: HttpHead): void
  body(piece: Uint8Array): void
  end(): void
  failed(error: Error): void
}

/** Requests up to this many bytes leave as one piece: one write is cheaper than two. */
const SMALL = 65_536

/** One HTTP/1.1 connection: one exchange at a time, any number of them. */
export class SocketConnection implements ResponseSink {
  readonly #socket: Socket
  readonly #host: string
  readonly #free: (connection: SocketConnection) => void
  readonly #reader = new ResponseReader()
  #sink: ExchangeSink | undefined = undefined
  #signal: AbortSignal | undefined = undefined
  #failure: Error | undefined = undefined
  #heads: { headers: HttpRequest['headers']; path: string; size: number; text: string } | undefined = undefined
  readonly #onAbort = () => this.destroy(describeAbort(this.#signal as AbortSignal))
  /** Clock reading of the last exchange's end. */
  idleSince = 0
  /** An answer came over it before: then a failure may only mean that the server closed it meanwhile. */
  used = false

  /** `free` is called whenever it can carry another exchange. */
  constructor(socket: Socket, host: string, free: (connection: SocketConnection) => void) {
    this.#socket = socket
    this.#host = host
    this.#free = free
    socket.setNoDelay(true)
    socket.on('data', (chunk) => this.#take(chunk))
    socket.on('error', (error) => (this.#failure ??= error))
    socket.on('end', () => socket.end())
    socket.on('close', () => this.#close())
  }

  get usable(): boolean {
    return this.#sink === undefined && !this.#socket.destroyed && this.#socket.writable && this.#socket.readable
  }

  start(request: HttpRequest, sink: ExchangeSink): void {
    this.#sink = sink
    this.#signal = request.signal
    if (request.signal?.aborted === true) {
      this.#onAbort()
      return
    }
    request.signal?.addEventListener('abort', this.#onAbort, { once: true })
    this.#socket.ref()
    this.#reader.expect(this)
    this.#write(request)
  }

  destroy(error?: Error): void {
    this.#failure ??= error
    this.#socket.destroy()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  #write(request: HttpRequest): void {
    const size = byteLength(request.body)
    const head = this.#writeHead(request, size)
    if (size <= SMALL) {
      const whole = Buffer.allocUnsafe(head.length + size)
      let at = whole.write(head, 0, 'latin1')
      for (const part of request.body) {
        whole.set(part, at)
        at += part.length
      }
      this.#socket.write(whole)
      return
    }
    this.#socket.cork()
    this.#socket.write(head, 'latin1')
    for (const part of request.body) this.#socket.write(part)
    this.#socket.uncork()
  }

  #writeHead({ method, path, headers }: HttpRequest, size: number): string {
    const known = this.#heads
    if (known !== undefined && known.headers === headers && known.path === path && known.size === size)
      return known.text
    let text = `${method} ${path} HTTP/1.1\r\nHost: ${this.#host}\r\n`
    for (const name of Object.keys(headers)) text += `${checkField(name)}: ${checkField(headers[name] ?? '')}\r\n`
    text += method === 'POST' ? `Content-Length: ${size}\r\n\r\n` : '\r\n'
    this.#heads = { headers, path, size, text }
    return text
  }

  // From the server

  #take(chunk: Buffer): void {
    try {
      this.#reader.push(chunk)
    } catch (error) {
      this.destroy(error as Error)
    }
  }

  head(head: HttpHead): void {
    this.used = true
    this.#sink?.head(head)
  }

  body(piece: Uint8Array): void {
    this.#sink?.body(piece)
  }

  end(reusable: boolean): void {
    const sink = this.#release()
    if (reusable) {
      this.#socket.unref()
      this.idleSince = performance.now()
      this.#free(this)
    } else this.#socket.destroy()
    sink?.end()
  }

  #close(): void {
    if (this.#failure === undefined && this.#reader.close()) return
    this.#release()?.failed(this.#failure ?? new Error('the server closed the connection'))
    this.#free(this)
  }

  #release(): ExchangeSink | undefined {
    const sink = this.#sink
    this.#sink = undefined
    this.#signal?.removeEventListener('abort', this.#onAbort)
    this.#signal = undefined
    return sink
  }
}

/** No line breaks: they would begin another header. */
function checkField(text: string): string {
  if (/[\r\n\0]/.test(text)) throw new TypeError(`a header must not contain line breaks: ${JSON.stringify(text)}`)
  return text
}
