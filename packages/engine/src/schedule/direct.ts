import { ConchError } from '@conch/protocol'
import { nameRequest } from '../request.ts'
import type { ActiveRequest } from '../request.ts'
import type { Scheduler, ScheduleParts } from './contract.ts'
import { Deadlines } from './deadlines.ts'
import { Queue } from './queue.ts'
import { BatchRunner } from './run-batch.ts'

/** No batching: each request is an execution of its own on any idle instance, first come first served. */
export class DirectScheduler implements Scheduler {
  readonly #parts: ScheduleParts
  readonly #runner: BatchRunner
  readonly #queue: Queue
  #stopping = false
  #pumping = false
  #onIdle: (() => void) | undefined = undefined
  #idle: Promise<void> | undefined = undefined

  constructor(parts: ScheduleParts) {
    this.#parts = parts
    this.#runner = new BatchRunner(parts)
    this.#queue = new Queue({
      batching: undefined,
      reporter: parts.reporter,
      deadlines: new Deadlines(),
      fail: (request, error, outcome) => request.fail(error, outcome),
      onChange: () => this.#settle(),
    })
    parts.pool.onFree = () => this.#pump()
  }

  enqueue(request: ActiveRequest): void {
    if (this.#stopping) refuseStopped(request)
    request.timings.queued = performance.now()
    if (this.#queue.length === 0 && !this.#pumping) {
      const slot = this.#parts.pool.take()
      if (slot !== undefined) {
        this.#runner.run(slot, [request])
        return
      }
    }
    this.#queue.push(request)
  }

  get inflight(): number {
    return this.#queue.length + this.#runner.running
  }

  get pending(): number {
    return this.#queue.length
  }

  stop(): Promise<void> {
    this.#stopping = true
    this.#idle ??= new Promise((resolve) => (this.#onIdle = resolve))
    if (this.inflight === 0) this.#onIdle?.()
    return this.#idle
  }

  /** An instance became free. Not re-entered: a batch that is answered at once frees its instance within the loop. */
  #pump(): void {
    if (this.#pumping) return
    this.#pumping = true
    while (this.#queue.length > 0) {
      const slot = this.#parts.pool.take()
      if (slot === undefined) break
      const request = this.#queue.shift()
      if (request !== undefined) this.#runner.run(slot, [request])
    }
    this.#pumping = false
    this.#settle()
  }

  #settle(): void {
    if (this.#onIdle !== undefined && this.inflight === 0) this.#onIdle()
  }
}

export function refuseStopped(request: ActiveRequest): never {
  const text = 'Server is stopping, scheduler for model has stopped accepting new inference requests'
  throw new ConchError('UNAVAILABLE', `${nameRequest(request.request.id)}${text}`)
}
