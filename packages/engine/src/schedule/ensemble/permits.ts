import { ConchError } from '@conch/protocol'

interface Waiting {
  readonly signal: AbortSignal | undefined
  readonly admit: () => void
  readonly refuse: (error: unknown) => void
  /** Called when the signal is aborted. */
  readonly handleEvent: () => void
}

/** `max_inflight_requests`: so many requests of one step run at once, whatever ensemble request they belong to; the others wait in order. */
export class Permits {
  readonly #limit: number
  #taken = 0
  readonly #waiting = new Set<Waiting>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Undefined = at once. Rejects when the signal is aborted first. */
  take(signal: AbortSignal | undefined): Promise<void> | undefined {
    if (this.#taken < this.#limit) {
      this.#taken += 1
      return undefined
    }
    return new Promise((admit, refuse) => {
      const waiting = { signal, admit, refuse, handleEvent: () => this.#leave(waiting) }
      this.#waiting.add(waiting)
      signal?.addEventListener('abort', waiting, { once: true })
    })
  }

  #leave(waiting: Waiting): void {
    this.#waiting.delete(waiting)
    waiting.refuse(new ConchError('CANCELLED', ''))
  }

  give(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#taken -= 1
      return
    }
    this.#waiting.delete(next)
    next.signal?.removeEventListener('abort', next)
    next.admit()
  }
}
