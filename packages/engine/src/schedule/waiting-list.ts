import type { ActiveRequest } from '../request.ts'
import type { Deadline } from './deadlines.ts'

/** Who is told that a waiting request's time is over or that its client has gone. */
export interface WaitingOwner {
  expired(waiting: Waiting): void
  cancelled(waiting: Waiting): void
}

/** One request in a queue; also its own timer entry and the listener on its signal. */
export class Waiting implements Deadline {
  readonly request: ActiveRequest
  readonly rows: number
  readonly arrivedAt: number
  /** Priority level; 0 when the model has none. */
  readonly level: number
  /** Expiry; Infinity = never. */
  at: number
  cancelled = false
  order = 0
  list: WaitingList | undefined = undefined
  previous: Waiting | undefined = undefined
  next: Waiting | undefined = undefined
  readonly #owner: WaitingOwner

  constructor(owner: WaitingOwner, request: ActiveRequest, place: { level: number; expiry: number }) {
    this.#owner = owner
    this.request = request
    this.rows = request.rows
    this.arrivedAt = request.timings.queued
    this.level = place.level
    this.at = place.expiry
  }

  expire(): void {
    this.#owner.expired(this)
  }

  handleEvent(): void {
    this.#owner.cancelled(this)
  }
}

/** First in, first out, with removal from anywhere at no cost. */
export class WaitingList {
  head: Waiting | undefined = undefined
  length = 0
  #tail: Waiting | undefined = undefined

  push(waiting: Waiting): void {
    waiting.list = this
    waiting.previous = this.#tail
    waiting.next = undefined
    if (this.#tail === undefined) this.head = waiting
    else this.#tail.next = waiting
    this.#tail = waiting
    this.length += 1
  }

  remove(waiting: Waiting): void {
    if (waiting.list !== this) return
    if (waiting.previous === undefined) this.head = waiting.next
    else waiting.previous.next = waiting.next
    if (waiting.next === undefined) this.#tail = waiting.previous
    else waiting.next.previous = waiting.previous
    waiting.list = undefined
    waiting.previous = undefined
    waiting.next = undefined
    this.length -= 1
  }
}
