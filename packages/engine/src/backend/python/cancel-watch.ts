import type { Batch } from '../contract.ts'
import type { Worker } from './worker.ts'

/** Milliseconds after which a model knows at the latest that nobody waits for a request. */
const INTERVAL = 20
/** Looks in vain, one after another, before it stops looking. */
const PATIENCE = 50

/** Tells a child of requests that were cancelled. Looking now and then costs nothing per request; listening would. */
export class CancelWatch {
  #timer: NodeJS.Timeout | undefined = undefined
  #idle = 0

  watch(worker: Worker, batch: Batch): void {
    if (this.#timer !== undefined) return
    if (batch.requests.some(({ signal }) => signal !== undefined)) {
      this.#timer = setInterval(() => this.#look(worker), INTERVAL).unref()
    }
  }

  #look(worker: Worker): void {
    const { live } = worker.requests
    this.#idle = live.size === 0 ? this.#idle + 1 : 0
    if (this.#idle > PATIENCE) this.stop()
    for (const request of live.values()) {
      if (!request.isCancelled && request.active.signal?.aborted === true) worker.cancel(request)
    }
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#idle = 0
  }
}
