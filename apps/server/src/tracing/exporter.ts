import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import type { CollectorOptions } from './collector-options.ts'
import { encodeSpans } from './encode-spans.ts'
import type { Span } from './spans.ts'

const RETRIED: ReadonlySet<number> = new Set([429, 502, 503, 504])
const FIRST_WAIT_MS = 1_000
const MOST_WAIT_MS = 30_000
/** What the end of the server may wait for. */
const CLOSE_MS = 5_000

type Request = (url: string, options: RequestOptions, take: (answer: IncomingMessage) => void) => ClientRequest

/**
 * Sends spans to a collector: OTLP over HTTP, protobuf, in batches. The queue is bounded; what it has no room for is dropped
 * and counted, as requests must not wait for a collector, nor their spans fill the memory.
 */
export class SpanExporter {
  /** Spans that no collector will see. */
  dropped = 0
  readonly #options: CollectorOptions
  readonly #complain: (text: string) => void
  readonly #queue: Span[] = []
  readonly #request: Request
  #timer: NodeJS.Timeout | undefined = undefined
  #sending: Promise<void> | undefined = undefined
  /** After a failure: how long the next attempt waits. */
  #wait = 0
  #closed = false
  #told = -Infinity

  constructor(options: CollectorOptions, complain: (text: string) => void) {
    this.#options = options
    this.#complain = complain
    const isSecure = options.url.startsWith('https:')
    // Not by an import: servers without a collector need no client.
    this.#request = process.getBuiltinModule(isSecure ? 'node:https' : 'node:http').request as Request
  }

  add(spans: readonly Span[]): void {
    const { queueSize, batchSize } = this.#options
    if (this.#closed || this.#queue.length + spans.length > queueSize) {
      this.#drop(spans.length, 'their queue is full')
      return
    }
    this.#queue.push(...spans)
    if (this.#wait === 0 && this.#queue.length >= batchSize) this.#start()
    else this.#schedule()
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#sending !== undefined || this.#closed) return
    this.#timer = setTimeout(() => this.#start(), this.#wait || this.#options.delayMs).unref()
  }

  #start(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#sending !== undefined) return
    this.#sending = this.#sendAll().then(() => {
      this.#sending = undefined
      if (this.#queue.length > 0) this.#schedule()
    })
  }

  /** Until the queue is empty or the collector does not take any. */
  async #sendAll(): Promise<void> {
    do {
      const batch = this.#queue.slice(0, this.#options.batchSize)
      if (batch.length === 0) return
      if (!(await this.#sendBatch(batch))) return
      this.#queue.splice(0, batch.length)
    } while (this.#queue.length >= this.#options.batchSize || this.#closed)
  }

  /** False = to be tried again. */
  async #sendBatch(batch: readonly Span[]): Promise<boolean> {
    let reason: string
    try {
      const status = await this.#post(encodeSpans(batch, this.#options.resource))
      this.#wait = 0
      if (status >= 200 && status < 300) return true
      reason = `HTTP status ${status}`
      if (!RETRIED.has(status)) {
        this.#drop(batch.length, reason)
        return true
      }
    } catch (error) {
      reason = error instanceof Error ? error.message || error.name : String(error)
    }
    this.#wait = Math.min(MOST_WAIT_MS, (this.#wait || FIRST_WAIT_MS / 2) * 2)
    this.#tell(`cannot send traces to ${this.#options.url}: ${reason}; trying again`)
    return false
  }

  #post(body: Uint8Array): Promise<number> {
    const { url, headers, timeoutMs } = this.#options
    return new Promise((resolve, reject) => {
      const request = this.#request(
        url,
        {
          method: 'POST',
          headers: { ...headers, 'Content-Type': 'application/x-protobuf', 'Content-Length': body.length },
          signal: AbortSignal.timeout(timeoutMs),
        },
        (answer) => {
          answer.resume()
          answer.once('error', reject)
          answer.once('end', () => resolve(answer.statusCode ?? 0))
        },
      )
      request.once('error', reject)
      request.end(body)
    })
  }

  #drop(count: number, reason: string): void {
    this.dropped += count
    this.#tell(`spans were dropped, ${this.dropped} so far: ${reason}`)
  }

  /** Once a minute is enough. */
  #tell(text: string): void {
    const now = performance.now()
    if (now - this.#told < 60_000) return
    this.#told = now
    this.#complain(text)
  }

  /** Sends what waits, if the collector takes it soon. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    const end = new Promise<void>((resolve) => void setTimeout(resolve, CLOSE_MS).unref())
    const rest = (this.#sending ?? Promise.resolve()).then(() => this.#sendAll())
    await Promise.race([rest, end])
    this.dropped += this.#queue.length
    this.#queue.length = 0
  }
}
