import type { InferResponse } from '@conch/protocol'
import type { ActiveRequest, Outcome } from '../request.ts'
import type { Delivery } from './run-batch.ts'

interface Held {
  readonly request: ActiveRequest
  /** Set when the answer is there; waits for those before it. */
  deliver: (() => void) | undefined
}

/** Releases answers in the order in which the requests entered (`preserve_ordering`). */
export class ReplyOrder implements Delivery {
  /** In order of entry. */
  readonly #held = new Map<ActiveRequest, Held>()

  enter(request: ActiveRequest): void {
    this.#held.set(request, { request, deliver: undefined })
  }

  respond(request: ActiveRequest, response: InferResponse): void {
    this.#keep(request, () => request.respond(response, true))
  }

  fail(request: ActiveRequest, error: unknown, outcome: Outcome): void {
    this.#keep(request, () => request.fail(error, outcome))
  }

  leave(request: ActiveRequest): void {
    this.#keep(request, () => undefined)
  }

  /** Answers that wait for earlier ones. */
  get size(): number {
    return this.#held.size
  }

  #keep(request: ActiveRequest, deliver: () => void): void {
    const held = this.#held.get(request)
    if (held === undefined) {
      deliver()
      return
    }
    held.deliver = deliver
    for (const first of this.#held.values()) {
      if (first.deliver === undefined) return
      this.#held.delete(first.request)
      first.deliver()
    }
  }
}
