import type { InferRequest, InferResponse } from '@conch/protocol'
import { newTimings } from '../../request.ts'
import type { ActiveRequest, Outcome } from '../../request.ts'
import type { SentRequest } from './bodies.ts'
import { sendError } from './wire.ts'
import type { Wire } from './wire.ts'

/** A request in the child: what it answers goes to the server as notes. */
export class RemoteRequest implements ActiveRequest {
  readonly q: number
  readonly request: InferRequest
  readonly rows: number
  readonly chain: readonly string[]
  readonly timings = newTimings()
  readonly #wire: Wire
  readonly #gone = new AbortController()
  readonly #onDone: (q: number) => void
  done = false

  constructor({ q, request, rows, chain }: SentRequest, wire: Wire, onDone: (q: number) => void) {
    this.q = q
    this.request = request
    this.rows = rows
    this.chain = chain
    this.#wire = wire
    this.#onDone = onDone
  }

  get signal(): AbortSignal {
    return this.#gone.signal
  }

  /** Its client has gone. */
  abort(): void {
    this.#gone.abort()
  }

  respond(response: InferResponse | undefined, final: boolean): void {
    if (this.done) return
    this.#wire.note('respond', { q: this.q, response, final })
    if (final) this.end()
  }

  respondError(error: unknown): void {
    if (!this.done) this.#wire.note('respond', { q: this.q, error: sendError(error), final: false })
  }

  fail(error: unknown, outcome: Outcome): void {
    if (this.done) return
    this.#wire.note('respond', { q: this.q, error: sendError(error), outcome, final: true })
    this.end()
  }

  end(): void {
    this.done = true
    this.#onDone(this.q)
  }
}
