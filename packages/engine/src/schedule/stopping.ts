import { ConchError } from '@conch/protocol'
import { nameRequest } from '../request.ts'
import type { ActiveRequest } from '../request.ts'

/** How a scheduler ends: requests that come after `stop` are refused, and it resolves when none is in flight. */
export class Stopping {
  readonly #inflight: () => number
  #onIdle: (() => void) | undefined = undefined
  #idle: Promise<void> | undefined = undefined

  constructor(inflight: () => number) {
    this.#inflight = inflight
  }

  /** Throws when no more requests are taken. */
  admit(request: ActiveRequest): void {
    if (this.#idle !== undefined) refuseStopped(request)
  }

  stop(): Promise<void> {
    this.#idle ??= new Promise((resolve) => (this.#onIdle = resolve))
    this.settle()
    return this.#idle
  }

  /** To be called whenever a request has left. */
  settle(): void {
    if (this.#onIdle !== undefined && this.#inflight() === 0) this.#onIdle()
  }
}

export function refuseStopped(request: ActiveRequest): never {
  const text = 'Server is stopping, scheduler for model has stopped accepting new inference requests'
  throw new ConchError('UNAVAILABLE', `${nameRequest(request.request.id)}${text}`)
}
