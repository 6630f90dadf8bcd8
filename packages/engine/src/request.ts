import { ConchError } from '@conch/protocol'
import type { InferRequest, InferResponse, ModelConfig } from '@conch/protocol'

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

/** Which version serves a request, as far as its trace tells. */
export interface TracedVersion {
  readonly model: string
  readonly version: string
  readonly config: Pick<ModelConfig, 'platform'>
}

/** What a sampled request reports to; all others have none, and pay for looking only. Stamps are as in `Timings`. */
export interface RequestTrace {
  /** Unique in this process. */
  readonly id: number
  /** JSON text with the W3C trace context, for the model's own spans; undefined when nobody collects spans. */
  readonly context: string | undefined
  /** For a request that is asked on behalf of this one. */
  child(): RequestTrace
  /** A version took the request; `end` follows. Returns itself. */
  begin(version: TracedVersion, request: InferRequest): RequestTrace
  /** Something that a backend or a face has to say. */
  report(activity: string, at: number): void
  respond(response: InferResponse): void
  /** The request is over; `error`: why it failed. */
  end(timings: Timings, ended: { readonly cached: boolean; readonly error: unknown }): void
}

/** One request in flight, from the hallway to its answer. */
export interface ActiveRequest {
  readonly request: InferRequest
  /** Rows along the batch dimension; 1 for models that do not batch. */
  readonly rows: number
  readonly signal: AbortSignal | undefined
  readonly timings: Timings
  /** Models whose requests wait for this one, outermost first, this one's own model last. */
  readonly chain: readonly string[]
  /** Undefined for nearly all of them. */
  readonly trace?: RequestTrace | undefined
  /**
   * Delivers one response. `final` ends the request; a decoupled model may call with `final: false` any number of times
   * and end with `undefined`. Calls after the final one are ignored.
   */
  respond(response: InferResponse | undefined, final: boolean): void
  /** One response that is an error while the request goes on; without a listener for such it ends with the error. */
  respondError(error: unknown): void
  /** Ends the request with an error, counted under `outcome`. */
  fail(error: unknown, outcome: Outcome): void
  readonly done: boolean
  /** What runs it now: an instance, which others must wait for; undefined before, and after its `execute` returned. */
  instance?: object | undefined
}

/** Keeps a copy of a request's answer for equal ones that come later. */
export interface AnswerKeeper {
  /** Called with a single, final response before its client sees it; must not throw. */
  keep(response: InferResponse): void
}

/** What the response cache did for a request, and how long it took, milliseconds. */
export interface CacheUse {
  readonly hit: boolean
  readonly ms: number
}

/** Takes the responses of a stream; `final`: none will follow. A stream may also end without a last response. */
export type ResponseListener = (response: InferResponse, final: boolean) => void

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
  done = false
  instance: object | undefined = undefined
  /** Stamp of the first response; 0 = none yet. */
  firstResponse = 0
  keeper: AnswerKeeper | undefined = undefined
  cache: CacheUse | undefined = undefined
  readonly #owner: FlightOwner
  /** The request that waits for this one. */
  readonly outer: Flight | undefined
  readonly trace: RequestTrace | undefined
  /** Given when its stages are kept, by itself or by a request that it waited for; 0 = not yet. */
  serial = 0
  readonly #chain: readonly string[]
  #named: readonly string[] | undefined = undefined
  readonly #onResponse: ResponseListener | undefined
  readonly #onError: ((error: ConchError) => void) | undefined
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
    this.outer = parts.outer
    this.trace = parts.trace
    this.#chain = parts.chain
    this.#onResponse = parts.onResponse
    this.#onError = parts.onError
  }

  /** Read by those who ask other models on its behalf: `findWaiting` tells which request an array of these belongs to. */
  get chain(): readonly string[] {
    this.#named ??= nameOwner(this.#chain, this)
    return this.#named
  }

  respond(response: InferResponse | undefined, final: boolean): void {
    if (this.done) return
    if (response !== undefined) {
      if (this.keeper !== undefined && final && this.#responses === 0) this.keeper.keep(response)
      this.#take(response, final)
    }
    if (!final) return
    if (this.#onResponse === undefined && this.#responses !== 1) {
      this.fail(new ConchError('INTERNAL', `expected a single response, got ${this.#responses}`), 'other')
      return
    }
    this.#end('success')
    this.#resolve?.(this.#response)
  }

  respondError(error: unknown): void {
    if (this.done) return
    const known = error instanceof ConchError ? error : new ConchError('INTERNAL', String(error), { cause: error })
    if (this.#onError === undefined) {
      this.fail(known, 'backend')
      return
    }
    this.#count()
    this.#onError(known)
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

  #take(response: InferResponse, final: boolean): void {
    this.#count()
    this.trace?.respond(response)
    if (this.#onResponse === undefined) this.#response = response
    else this.#onResponse(response, final)
  }

  #count(): void {
    this.#responses += 1
    if (this.firstResponse === 0) this.firstResponse = performance.now()
  }

  #end(outcome: Outcome): void {
    const now = performance.now()
    const { timings } = this
    this.done = true
    timings.end = now
    // Answered while its batch still runs.
    if (timings.computeStart !== 0 && timings.computeEnd === 0) {
      timings.computeEnd = now
      if (timings.computeInputEnd === 0) timings.computeInputEnd = timings.computeStart
      if (timings.computeOutputStart === 0) timings.computeOutputStart = now
    }
    this.trace?.end(timings, { cached: this.cache?.hit === true, error: this.#error })
    this.#owner.ended(this, outcome)
  }
}

const OWNER = Symbol('owner')
type OwnedChain = readonly string[] & { [OWNER]?: Flight }

/** A copy that knows whose it is: a weak map would cost more than the rest of a request. */
function nameOwner(chain: readonly string[], flight: Flight): readonly string[] {
  const named: OwnedChain = [...chain]
  named[OWNER] = flight
  return named
}

/** The request whose `chain` this very array is. */
export function findWaiting(chain: readonly string[]): Flight | undefined {
  return (chain as OwnedChain)[OWNER]
}

export interface FlightParts {
  readonly rows: number
  readonly chain: readonly string[]
  readonly outer?: Flight | undefined
  readonly trace?: RequestTrace | undefined
  readonly signal: AbortSignal | undefined
  readonly timings: Timings
  /** Takes every response of a stream; without it exactly one response is expected. */
  readonly onResponse: ResponseListener | undefined
  /** Takes the responses that are errors and end nothing. */
  readonly onError?: ((error: ConchError) => void) | undefined
}
