import type { InferRequest } from '@conch/protocol'
import type { RequestTrace, Timings, Trace } from '@conch/engine'
import type { AccessLog } from './access-log.ts'
import type { FindHeader, Tracer } from './tracer.ts'

/** How an answer ended, as its protocol says it. */
export interface SentAnswer {
  /** HTTP status, 0 when its client went without one; or gRPC status code. */
  readonly status: number
  readonly bytes: number
}

/** What a face tells about one inference while it is under way. */
export interface Watch {
  /** All of its bytes are there. */
  received(bytes: number): void
  /** It is handed to the engine, which reports to the trace, if there is one. */
  begin(request: InferRequest, timings: Timings): RequestTrace | undefined
  /** Its answer begins to leave; only the first call counts. */
  sending(): void
  /** Nothing more will be said about it. */
  sent(answer: SentAnswer): void
}

/** For all requests while nobody looks: the common case. */
export const UNWATCHED: Watch = {
  received: () => undefined,
  begin: () => undefined,
  sending: () => undefined,
  sent: () => undefined,
}

export interface WatchParts {
  readonly tracer: Tracer
  readonly access: AccessLog | undefined
  readonly protocol: 'http' | 'grpc'
  readonly find: FindHeader
  readonly target: { readonly model: string; readonly version: string }
  /** When its bytes were first waited for. */
  readonly start: number
}

const NAMES = {
  http: { receive: 'HTTP_RECV', send: 'HTTP_SEND' },
  grpc: { receive: 'GRPC_WAITREAD', send: 'GRPC_SEND' },
} as const

/** Reports to a trace, to the access log, or to both. */
export class RequestWatch implements Watch {
  readonly #parts: WatchParts
  #received = 0
  #bytes = 0
  #request: InferRequest | undefined = undefined
  #timings: Timings | undefined = undefined
  #trace: Trace | undefined = undefined
  #sending = 0
  #done = false

  constructor(parts: WatchParts) {
    this.#parts = parts
  }

  received(bytes: number): void {
    this.#received = performance.now()
    this.#bytes = bytes
  }

  begin(request: InferRequest, timings: Timings): RequestTrace | undefined {
    const { tracer, find, protocol, start } = this.#parts
    this.#request = request
    this.#timings = timings
    this.#trace = tracer.on ? tracer.sample(request.model, find) : undefined
    if (this.#trace === undefined) return undefined
    const { root } = this.#trace
    root.report(`${NAMES[protocol].receive}_START`, start)
    root.report(`${NAMES[protocol].receive}_END`, this.#received)
    return root
  }

  sending(): void {
    if (this.#sending === 0) this.#sending = performance.now()
  }

  sent(answer: SentAnswer): void {
    if (this.#done) return
    this.#done = true
    this.#note(answer)
    if (this.#trace === undefined) return
    const { send } = NAMES[this.#parts.protocol]
    if (this.#sending !== 0) this.#trace.root.report(`${send}_START`, this.#sending)
    if (this.#sending !== 0) this.#trace.root.report(`${send}_END`, performance.now())
    this.#trace.release()
  }

  #note(answer: SentAnswer): void {
    const { access, protocol, start, target } = this.#parts
    access?.write({
      protocol,
      target,
      request: this.#request,
      timings: this.#timings,
      received: this.#bytes,
      milliseconds: performance.now() - start,
      ...answer,
    })
  }
}
