import type { InferResponse } from '@conch/protocol'
import type { ActiveRequest } from '../request.ts'
import type { Scheduler, ScheduleParts } from './contract.ts'
import { Deadlines } from './deadlines.ts'
import type { Deadline } from './deadlines.ts'
import { pickBatch } from './pick-batch.ts'
import type { BatchLimits } from './pick-batch.ts'
import { Queue } from './queue.ts'
import { ReplyOrder } from './reply-order.ts'
import { BatchRunner, DIRECT } from './run-batch.ts'
import { chooseFit } from './same-inputs.ts'
import { Stopping } from './stopping.ts'
import type { Waiting } from './waiting-list.ts'

/** Dynamic batching, the loop: whenever an instance is free, ask `pickBatch`; it never holds one that could work. */
export class DynamicScheduler implements Scheduler {
  readonly #parts: ScheduleParts
  readonly #limits: BatchLimits<Waiting>
  readonly #order: ReplyOrder | undefined
  readonly #runner: BatchRunner
  readonly #queue: Queue
  readonly #deadlines = new Deadlines()
  /** The moment the head of the queue has waited long enough. */
  #wake: Deadline | undefined = undefined
  readonly #stopping = new Stopping(() => this.inflight)
  #pumping = false

  constructor(parts: ScheduleParts) {
    const { config, pool, reporter } = parts
    const batching = config.dynamic_batching
    this.#parts = parts
    this.#limits = {
      maxRows: Math.max(1, config.max_batch_size),
      preferredRows: new Set(config.max_batch_size > 0 ? batching?.preferred_batch_size : []),
      maxDelay: Number(batching?.max_queue_delay_microseconds ?? 0n) / 1_000,
      fits: config.max_batch_size > 0 ? chooseFit(config) : () => false,
    }
    this.#order = batching?.preserve_ordering === true ? new ReplyOrder() : undefined
    const delivery = this.#order ?? DIRECT
    this.#runner = new BatchRunner(parts, delivery)
    this.#queue = new Queue({
      batching,
      reporter,
      deadlines: this.#deadlines,
      fail: (request, error, outcome) => delivery.fail(request, error, outcome),
      onChange: () => this.#pump(),
    })
    pool.onFree = () => this.#pump()
  }

  enqueue(request: ActiveRequest): void {
    this.#stopping.admit(request)
    request.timings.queued = performance.now()
    if (this.#runsAtOnce()) {
      const slot = this.#parts.pool.take()
      if (slot !== undefined) {
        this.#order?.enter(request)
        this.#runner.run(slot, [request])
        return
      }
    }
    this.#queue.push(request)
    this.#order?.enter(request)
    this.#pump()
  }

  answer(request: ActiveRequest, response: InferResponse): void {
    this.#order?.enter(request)
    const delivery = this.#order ?? DIRECT
    delivery.respond(request, response)
  }

  /** Nobody waits and nothing better could come: the common case takes no detour. */
  #runsAtOnce(): boolean {
    return this.#queue.length === 0 && this.#limits.maxDelay === 0 && !this.#pumping
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

  #pump(): void {
    if (this.#pumping) return
    this.#pumping = true
    while (this.#queue.length > 0 && this.#runNext());
    this.#pumping = false
    this.#stopping.settle()
  }

  /** Runs one batch if there is one to run and an instance to run it. */
  #runNext(): boolean {
    const { pool } = this.#parts
    if (pool.busy >= pool.size) return false
    const waiting = this.#queue.peek(this.#limits.maxRows)
    const decision = pickBatch(waiting, this.#limits, performance.now())
    if ('waitUntil' in decision) {
      this.#wakeAt(decision.waitUntil)
      return false
    }
    const slot = pool.take()
    if (slot === undefined) return false
    const batch = waiting.slice(0, decision.take).map((one) => this.#queue.take(one))
    this.#runner.run(slot, batch)
    return true
  }

  #wakeAt(at: number): void {
    if (this.#wake !== undefined && !this.#wake.cancelled) {
      if (this.#wake.at === at) return
      this.#deadlines.cancel(this.#wake)
    }
    this.#wake = { at, cancelled: false, expire: () => this.#pump() }
    this.#deadlines.add(this.#wake)
  }
}
