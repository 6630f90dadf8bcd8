import { ConchError } from '@conch/protocol'
import type { InferRequest, InferResponse } from '@conch/protocol'

/**
 * Stamps of one request on one clock (`performance.now()`, milliseconds with sub-microsecond fractions); 0 = not yet.
 * Metrics, statistics, traces and the console's timing bar read these same numbers.
 */
export interface Timings {
  /** The face handed the request in. */
  start: number
  /** It entered its schedule's queue. */
  queued: number
  /** Its batch was given to an instance. */
  computeStart: number
  /** Inputs are gathered; the runtime's own call begins. */
  computeInputEnd: number
  /** The runtime's call is back; outputs are being handed out. */
  computeOutputStart: number
  computeEnd: number
  /** The answer (or error) was given to the face. */
  end: number
}

/** How a request ended; each ends in exactly one way and is counted once. */
export type Outcome = 'success' | 'rejected' | 'cancelled' | 'backend' | 'other'

/** One request in flight, from the hallway to its answer. */
export interface ActiveRequest {
  readonly request: InferRequest
  /** Rows along the batch dimension; 1 for models that do not batch. */
  readonly rows: number
  readonly signal: AbortSignal | undefined
  readonly timings: Timings
  /** Models whose requests wait for this one, outermost first, this one's own model last. */
  readonly chain: readonly string[]
  /**
   * Delivers one response. `final` ends the request; a decoupled model may call with `final: false` any number of times
   * and end with `undefined`. Calls after the final one are ignored.
   */
  respond(response: InferResponse | undefined, final: boolean): void
  /** Ends the request with an error, counted under `outcome`. */
  fail(error: unknown, outcome: Outcome): void
  readonly done: boolean
}

/** Who counts a request when it ended; one per model version. */
export interface FlightOwner {
  ended(flight: Flight, outcome: Outcome): void
}

export function newTimings(): Timings {
  return { start: 0, queued: 0, computeStart: 0, computeInputEnd: 0, computeOutputStart: 0, computeEnd: 0, end: 0 }
}

/** How a message says which request it is about. */
export function nameRequest(id: string): string {
  return `[request id: ${id === '' ? '<id_unknown>' : id}] `
}

/**
 * The one implementation of a request in flight. It owns no promise until somebody waits for one: a request that is
 * answered at once costs no more than its fields.
 */
export class Flight implements ActiveRequest {
  readonly request: InferRequest
  readonly rows: number
  readonly signal: AbortSignal | undefined
  readonly timings: Timings
  readonly chain: readonly string[]
  done = false
  /** Stamp of the first response; 0 = none yet. */
  firstResponse = 0
  readonly #owner: FlightOwner
  readonly #onResponse: ((response: InferResponse) => void) | undefined
  #responses = 0
  #response: InferResponse | undefined = undefined
  #error: unknown = undefined
  #resolve: ((response: InferResponse | undefined) => void) | undefined = undefined
  #reject: ((error: unknown) => void) | undefined = undefined

  constructor(owner: FlightOwner, request: InferRequest, parts: FlightParts) {
    this.#owner = owner
    this.request = request
    this.rows = parts.rows
    this.signal = parts.signal
    this.timings = parts.timings
    this.chain = parts.chain
    this.#onResponse = parts.onResponse
  }

  respond(response: InferResponse | undefined, final: boolean): void {
    if (this.done) return
    if (response !== undefined) this.#take(response)
    if (!final) return
    if (this.#onResponse === undefined && this.#responses !== 1) {
      this.fail(new ConchError('INTERNAL', `expected a single response, got ${this.#responses}`), 'other')
      return
    }
    this.#end('success')
    this.#resolve?.(this.#response)
  }

  fail(error: unknown, outcome: Outcome): void {
    if (this.done) return
    this.#error = error ?? new ConchError('INTERNAL', 'unknown failure')
    this.#end(outcome)
    this.#reject?.(this.#error)
  }

  /** Its client has gone before it ran. */
  cancel(): void {
    this.fail(new ConchError('CANCELLED', ''), 'cancelled')
  }

  /** Settles when the request ended; with a listener for responses it resolves to undefined. */
  wait(): Promise<InferResponse | undefined> {
    if (!this.done) {
      return new Promise((resolve, reject) => {
        this.#resolve = resolve
        this.#reject = reject
      })
    }
    return this.#error === undefined ? Promise.resolve(this.#response) : Promise.reject(this.#error as Error)
  }

  #take(response: InferResponse): void {
    this.#responses += 1
    if (this.firstResponse === 0) this.firstResponse = performance.now()
    if (this.#onResponse === undefined) this.#response = response
    else this.#onResponse(response)
  }

  #end(outcome: Outcome): void {
    const now = performance.now()
    this.done = true
    this.timings.end = now
    if (this.timings.computeStart !== 0 && this.timings.computeEnd === 0) this.timings.computeEnd = now
    this.#owner.ended(this, outcome)
  }
}

export interface FlightParts {
  readonly rows: number
  readonly chain: readonly string[]
  readonly signal: AbortSignal | undefined
  readonly timings: Timings
  /** Takes every response of a stream; without it exactly one response is expected. */
  readonly onResponse: ((response: InferResponse) => void) | undefined
}
