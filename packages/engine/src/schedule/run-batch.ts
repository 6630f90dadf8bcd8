import { ConchError } from '@conch/protocol'
import type { InferResponse, Parameters, Tensor } from '@conch/protocol'
import type { Batch, BatchAnswer, BatchAnswers } from '../backend/contract.ts'
import type { Slot } from '../instance/contract.ts'
import type { ActiveRequest, Outcome } from '../request.ts'
import type { ScheduleParts } from './contract.ts'

const NO_PARAMETERS: Parameters = {}
const REFUSED_AGAIN =
  'Request is released with TRITONSERVER_REQUEST_RELEASE_RESCHEDULE, while the model is not configured to handle such a flag.'

/** How answers leave: directly, or held back until earlier requests were answered. */
export interface Delivery {
  respond(request: ActiveRequest, response: InferResponse): void
  fail(request: ActiveRequest, error: unknown, outcome: Outcome): void
  /** The backend answers it by itself, now or later: nobody has to wait for that. */
  leave(request: ActiveRequest): void
  /** The model put it back; absent: that is an error. */
  again?(request: ActiveRequest): void
  /** Every request of a batch has had its part; its instance is given back next. */
  ended?(requests: readonly ActiveRequest[]): void
}

export const DIRECT: Delivery = {
  respond: (request, response) => request.respond(response, true),
  fail: (request, error, outcome) => request.fail(error, outcome),
  leave: () => undefined,
}

/**
 * Runs batches on instances: stamps, counts the execution, hands each request its part, gives the instance back.
 * A batch whose backend answers at once is finished before `run` returns.
 */
export class BatchRunner {
  readonly #parts: ScheduleParts
  readonly #delivery: Delivery
  readonly #allOutputs: ReadonlySet<string>
  /** Requests that are on an instance now. */
  running = 0

  constructor(parts: ScheduleParts, delivery: Delivery = DIRECT) {
    this.#parts = parts
    this.#delivery = delivery
    this.#allOutputs = new Set(parts.config.output.map((output) => output.name))
  }

  run(slot: Slot, requests: readonly ActiveRequest[]): void {
    const start = performance.now()
    let rows = 0
    for (const request of requests) {
      request.timings.computeStart = start
      request.instance = slot.instance
      rows += request.rows
    }
    this.running += requests.length
    const batch = new RunningBatch(requests, rows, this.#wanted(requests))
    let answers: BatchAnswers | Promise<BatchAnswers>
    try {
      answers = slot.instance.execute(batch)
    } catch (error) {
      this.#failAll(slot, batch, error)
      return
    }
    if (answers instanceof Promise) this.#finishLater(slot, batch, answers)
    else this.#finish(slot, batch, answers)
  }

  #wanted(requests: readonly ActiveRequest[]): ReadonlySet<string> {
    const all = this.#allOutputs
    for (const { request } of requests) {
      if (request.outputs.length === 0 || request.outputs.length >= all.size) return all
    }
    const wanted = new Set<string>()
    for (const { request } of requests) for (const output of request.outputs) wanted.add(output.name)
    return wanted
  }

  #finishLater(slot: Slot, batch: RunningBatch, answers: Promise<BatchAnswers>): void {
    batch.watch()
    answers.then(
      (ready) => this.#finish(slot, batch, ready),
      (error: unknown) => this.#failAll(slot, batch, error),
    )
  }

  #finish(slot: Slot, batch: RunningBatch, answers: BatchAnswers): void {
    const { requests, rows } = batch
    batch.complete()
    this.running -= requests.length
    for (const request of requests) stamp(request, batch)
    this.#parts.reporter.execution(batch, rows)
    for (let i = 0; i < requests.length; i++) {
      const request = requests[i]
      if (request !== undefined) this.#answer(request, answers === 'responded' ? answers : answers[i])
    }
    this.#delivery.ended?.(requests)
    this.#parts.pool.give(slot)
  }

  #answer(request: ActiveRequest, answer: BatchAnswer | undefined): void {
    if (answer === undefined) {
      const missing = new ConchError('INTERNAL', `no response for a request to model '${this.#parts.model}'`)
      this.#delivery.fail(request, missing, 'backend')
    } else if (answer === 'responded') {
      this.#delivery.leave(request)
    } else if (answer === 'again' && this.#delivery.again !== undefined) {
      this.#delivery.again(request)
    } else if (answer === 'again') {
      this.#delivery.fail(request, new ConchError('INVALID_ARG', REFUSED_AGAIN), 'backend')
    } else if ('error' in answer) {
      this.#delivery.fail(request, answer.error, blame(request, answer.error))
    } else {
      const { model, version } = this.#parts
      const outputs = pickOutputs(request, answer.outputs)
      const parameters = answer.parameters ?? NO_PARAMETERS
      this.#delivery.respond(request, { model, version, id: request.request.id, parameters, outputs })
    }
  }

  #failAll(slot: Slot, batch: RunningBatch, error: unknown): void {
    const ran = batch.computeInputEnd !== 0
    batch.complete()
    this.running -= batch.requests.length
    // What failed in the model was an execution of it (python-backend §4).
    if (ran) this.#parts.reporter.execution(batch, batch.rows)
    for (const request of batch.requests) {
      stamp(request, batch)
      this.#delivery.fail(request, error, blame(request, error))
    }
    this.#delivery.ended?.(batch.requests)
    this.#parts.pool.give(slot)
  }
}

/** A request that was answered before its batch ended has its stamps already. */
function stamp(request: ActiveRequest, batch: RunningBatch): void {
  const { timings } = request
  request.instance = undefined
  if (request.done) return
  timings.computeInputEnd = batch.computeInputEnd
  timings.computeOutputStart = batch.computeOutputStart
  timings.computeEnd = batch.computeEnd
}

function blame(request: ActiveRequest, error: unknown): Outcome {
  if (request.signal?.aborted === true) return 'cancelled'
  return error instanceof ConchError && error.code === 'CANCELLED' ? 'cancelled' : 'backend'
}

/** What the request asked for; everything when it did not say. */
function pickOutputs(request: ActiveRequest, outputs: readonly Tensor[]): readonly Tensor[] {
  const asked = request.request.outputs
  if (asked.length === 0) return outputs
  if (asked.length === outputs.length) return outputs
  return outputs.filter((output) => asked.some((one) => one.name === output.name))
}

class RunningBatch implements Batch {
  readonly requests: readonly ActiveRequest[]
  readonly rows: number
  readonly outputs: ReadonlySet<string>
  readonly computeStart: number
  computeInputEnd = 0
  computeOutputStart = 0
  computeEnd = 0
  /** One request's own signal, or one that follows all of them. */
  signal: AbortSignal | undefined
  #watched: AbortController | undefined = undefined
  #waiting = 0

  constructor(requests: readonly ActiveRequest[], rows: number, outputs: ReadonlySet<string>) {
    this.requests = requests
    this.rows = rows
    this.outputs = outputs
    this.computeStart = requests[0]?.timings.computeStart ?? 0
    this.signal = requests.length === 1 ? requests[0]?.signal : undefined
    if (requests.length > 1) this.#prepare()
  }

  /** Several requests: nobody waits any more when every one of them was cancelled. */
  #prepare(): void {
    if (!this.requests.every((request) => request.signal !== undefined)) return
    this.#watched = new AbortController()
    this.signal = this.#watched.signal
  }

  /** Called when the backend did not answer at once. */
  watch(): void {
    if (this.#watched === undefined) return
    for (const { signal } of this.requests) {
      if (signal?.aborted === true) continue
      this.#waiting += 1
      signal?.addEventListener('abort', this, { once: true })
    }
    if (this.#waiting === 0) this.#watched.abort()
  }

  handleEvent(): void {
    this.#waiting -= 1
    if (this.#waiting === 0) this.#watched?.abort()
  }

  /** Ends the batch; fills in the stamps that the backend did not set. */
  complete(): void {
    this.computeEnd = performance.now()
    if (this.computeInputEnd === 0) this.computeInputEnd = this.computeStart
    if (this.computeOutputStart === 0) this.computeOutputStart = this.computeEnd
    if (this.#watched === undefined) return
    for (const { signal } of this.requests) signal?.removeEventListener('abort', this)
  }
}
