import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { ConchError, parseGenerateRequest, parseJson, RequestHeads, ResponseHeads } from '@conch/protocol'
import type {
  EncodedResponse,
  GenerateInput,
  InferRequest,
  InferResponse,
  JsonValue,
  RequestTarget,
} from '@conch/protocol'
import type { JsonJob, JsonResult } from './json-jobs.ts'
import { findBuffers } from './json-jobs.ts'
import type { JsonAnswer } from './json-thread.ts'
import { LIMITS } from './limits.ts'

interface Ticket {
  readonly job: JsonJob
  readonly resolve: (result: JsonResult) => void
  readonly reject: (error: unknown) => void
}

interface Thread {
  readonly worker: Worker
  ticket: Ticket | undefined
  idleSince: number
}

/** Milliseconds after which a thread without work ends. */
const IDLE = 10_000

/**
 * Reads and writes JSON: small texts at once, large ones on threads of their own, so that the engine thread stays free.
 * Threads start when they are needed and end when they are not. A body that is given away must not be used afterwards.
 */
export class JsonWorkers {
  readonly #most: number
  readonly #requests = new RequestHeads()
  readonly #responses = new ResponseHeads()
  readonly #threads: Thread[] = []
  readonly #waiting: Ticket[] = []
  #sweeper: NodeJS.Timeout | undefined = undefined
  #stopped = false

  constructor(most: number) {
    this.#most = Math.max(1, Math.min(most, availableParallelism()))
  }

  parseRequest(
    body: Buffer,
    headerLength: number | undefined,
    target: RequestTarget,
  ): InferRequest | Promise<InferRequest> {
    if ((headerLength ?? body.length) < LIMITS.jsonOffThread) return this.#requests.parse(body, headerLength, target)
    return this.#run({ kind: 'request', body, headerLength, target }) as Promise<InferRequest>
  }

  parseGenerate(
    body: Buffer,
    inputs: readonly GenerateInput[],
    target: RequestTarget,
  ): InferRequest | Promise<InferRequest> {
    if (body.length < LIMITS.jsonOffThread) return parseGenerateRequest(body, inputs, target)
    return this.#run({ kind: 'generate', body, inputs, target }) as Promise<InferRequest>
  }

  /** `jsonBytes` is about the size of the tensors that are delivered as JSON. */
  encodeResponse(
    response: InferResponse,
    request: InferRequest,
    jsonBytes: number,
  ): EncodedResponse | Promise<EncodedResponse> {
    if (jsonBytes * JSON_PER_BYTE < LIMITS.jsonOffThread) return this.#responses.encode(response, request)
    // The engine may use an output's memory again, and memory of a library cannot be given away: these are copies.
    const outputs = response.outputs.map((tensor) => ({ ...tensor, data: new Uint8Array(tensor.data) }))
    const asked = { ...request, inputs: [] }
    return this.#run({
      kind: 'response',
      response: { ...response, outputs },
      request: asked,
    }) as Promise<EncodedResponse>
  }

  parseJson(body: Buffer): JsonValue | Promise<JsonValue> {
    if (body.length < LIMITS.jsonOffThread) return parseJson(body)
    return this.#run({ kind: 'json', body }) as Promise<JsonValue>
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#sweeper)
    for (const ticket of this.#waiting.splice(0)) ticket.reject(stopping())
    await Promise.all(this.#threads.splice(0).map(({ worker }) => worker.terminate()))
  }

  #run(job: JsonJob): Promise<JsonResult> {
    return new Promise((resolve, reject) => {
      if (this.#stopped) return reject(stopping())
      this.#waiting.push({ job, resolve, reject })
      this.#assign()
    })
  }

  #assign(): void {
    const free = this.#threads.find((thread) => thread.ticket === undefined) ?? this.#open()
    const ticket = free && this.#waiting.shift()
    if (!ticket) return
    free.ticket = ticket
    try {
      free.worker.postMessage(ticket.job, findBuffers(ticket.job))
    } catch (error) {
      free.ticket = undefined
      ticket.reject(error)
    }
  }

  #open(): Thread | undefined {
    if (this.#threads.length >= this.#most) return undefined
    const file = import.meta.url.endsWith('.ts') ? './json-thread.ts' : './json-thread.js'
    const thread: Thread = { worker: new Worker(new URL(file, import.meta.url)), ticket: undefined, idleSince: 0 }
    thread.worker.unref()
    thread.worker.on('message', (answer: JsonAnswer) => this.#finish(thread, answer))
    thread.worker.on('error', (error) => this.#lose(thread, error))
    this.#threads.push(thread)
    this.#sweeper ??= setInterval(() => this.#sweep(), IDLE / 2).unref()
    return thread
  }

  #finish(thread: Thread, answer: JsonAnswer): void {
    const { ticket } = thread
    thread.ticket = undefined
    thread.idleSince = performance.now()
    if ('result' in answer) ticket?.resolve(answer.result)
    else ticket?.reject(new ConchError(answer.code, answer.message))
    this.#assign()
  }

  #lose(thread: Thread, cause: unknown): void {
    this.#remove(thread)
    thread.ticket?.reject(
      new ConchError('INTERNAL', 'the thread that handled the JSON of this request ended', { cause }),
    )
    if (this.#waiting.length > 0) this.#assign()
  }

  #remove(thread: Thread): void {
    const at = this.#threads.indexOf(thread)
    if (at >= 0) this.#threads.splice(at, 1)
  }

  #sweep(): void {
    const now = performance.now()
    for (const thread of this.#threads.filter((one) => one.ticket === undefined && now - one.idleSince > IDLE)) {
      this.#remove(thread)
      void thread.worker.terminate()
    }
    if (this.#threads.length > 0) return
    clearInterval(this.#sweeper)
    this.#sweeper = undefined
  }
}

/** A byte of tensor becomes about this many bytes of JSON. */
const JSON_PER_BYTE = 3

function stopping(): ConchError {
  return new ConchError('UNAVAILABLE', 'Server exiting')
}
