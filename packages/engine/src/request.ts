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
  /**
   * Delivers one response. `final` ends the request; a decoupled model may call with `final: false` any number of times
   * and end with `undefined`. Calls after the final one are ignored.
   */
  respond(response: InferResponse | undefined, final: boolean): void
  /** Ends the request with an error, counted under `outcome`. */
  fail(error: unknown, outcome: Outcome): void
  readonly done: boolean
}
