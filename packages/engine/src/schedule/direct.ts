import type { ActiveRequest } from '../request.ts'
import type { Scheduler, ScheduleParts } from './contract.ts'
import { Deadlines } from './deadlines.ts'
import { Queue } from './queue.ts'
import { BatchRunner } from './run-batch.ts'
import { Stopping } from './stopping.ts'

/** No batching: each request is an execution of its own on any idle instance, first come first served. */
export class DirectScheduler implements Scheduler {
  readonly #parts: ScheduleParts
  readonly #runner: BatchRunner
  readonly #queue: Queue
  readonly #stopping = new Stopping(() => this.inflight)
  #pumping = false

  constructor(parts: ScheduleParts) {
    this.#parts = parts
    this.#runner = new BatchRunner(parts)
    this.#queue = new Queue({
      batching: undefined,
      reporter: parts.reporter,
      deadlines: new Deadlines(),
      fail: (request, error, outcome) => request.fail(error, outcome),
      onChange: () => this.#stopping.settle(),
    })
    parts.pool.onFree = () => this.#pump()
  }

  enqueue(request: ActiveRequest): void {
    this.#stopping.admit(request)
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
    return this.#stopping.stop()
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
    this.#stopping.settle()
  }
}
