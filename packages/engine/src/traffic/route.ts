import { ConchError } from '@conch/protocol'
import type { InferRequest, InferResponse } from '@conch/protocol'
import type { Flight, ResponseListener } from '../request.ts'
import type { Route } from './contract.ts'

/** How a request ended, as far as its version is judged by it. */
export type Ended = 'success' | 'failure' | 'cancelled' | 'mistake'

/** Who counts what becomes of a request. */
export interface RouteOwner {
  /** `ms`: since it was sent. */
  ended(route: PickedRoute, how: Ended, ms: number): void
  /** It is one of those that are copied, and was answered; undefined = by more responses than are kept. */
  mirror(route: PickedRoute, answers: readonly InferResponse[] | undefined): void
}

/** Responses of a stream that are kept for a copy. */
const MOST_RESPONSES = 1_000

/** One request and the version that was picked for it. */
export class PickedRoute implements Route {
  readonly version: string
  readonly request: InferRequest
  readonly mirrored: boolean
  readonly #owner: RouteOwner
  readonly #start = performance.now()
  readonly #answers: InferResponse[] = []

  constructor(owner: RouteOwner, request: InferRequest, picked: { version: string; mirrored: boolean }) {
    this.#owner = owner
    this.request = request
    this.version = picked.version
    this.mirrored = picked.mirrored
  }

  refused(error: unknown): void {
    this.#end(judge(error, false))
  }

  async follow(flight: Flight): Promise<InferResponse | undefined> {
    let response: InferResponse | undefined
    try {
      response = await flight.wait()
    } catch (error) {
      this.#end(judge(error, flight.timings.computeStart > 0))
      throw error
    }
    this.#end('success')
    if (this.mirrored) {
      if (response !== undefined) this.#answers.push(response)
      this.#owner.mirror(this, this.#answers.length > MOST_RESPONSES ? undefined : this.#answers)
    }
    return response
  }

  async stream(begin: () => Flight): Promise<void> {
    let flight: Flight
    try {
      flight = begin()
    } catch (error) {
      this.refused(error)
      throw error
    }
    await this.follow(flight)
  }

  listen(onResponse: ResponseListener): ResponseListener {
    if (!this.mirrored) return onResponse
    return (response, final) => {
      if (this.#answers.length <= MOST_RESPONSES) this.#answers.push(response)
      onResponse(response, final)
    }
  }

  #end(how: Ended): void {
    this.#owner.ended(this, how, performance.now() - this.#start)
  }
}

/** What a request that never ran is told to be wrong with may be its own mistake. */
function judge(error: unknown, ran: boolean): Ended {
  if (!(error instanceof ConchError)) return 'failure'
  if (error.code === 'CANCELLED') return 'cancelled'
  return error.code === 'INVALID_ARG' && !ran ? 'mistake' : 'failure'
}
