import type { ConchError } from '@conch/protocol'
import type { ActiveRequest } from '../../request.ts'
import type { Responding } from './bodies.ts'
import { receiveError } from './wire.ts'

/** Requests that a child has, by number. One that answers by itself stays until its last answer. */
export class RemoteRequests {
  readonly #open = new Map<number, ActiveRequest>()
  readonly #waiting: (() => void)[] = []
  #count = 0

  add(request: ActiveRequest): number {
    this.#count += 1
    this.#open.set(this.#count, request)
    return this.#count
  }

  find(q: number): ActiveRequest | undefined {
    return this.#open.get(q)
  }

  delete(q: number): void {
    this.#open.delete(q)
    if (this.#open.size === 0) for (const resolve of this.#waiting.splice(0)) resolve()
  }

  respond({ q, response, error, outcome, final }: Responding): void {
    const request = this.#open.get(q)
    if (final) this.delete(q)
    if (error === undefined) request?.respond(response, final)
    else if (final) request?.fail(receiveError(error), outcome ?? 'backend')
    else request?.respondError(receiveError(error))
  }

  failAll(reason: ConchError): void {
    const open = [...this.#open]
    for (const [q, request] of open) {
      this.delete(q)
      request.fail(reason, 'backend')
    }
  }

  /** Resolves when none is open. */
  async drain(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}
