import { ConchError } from '@conch/protocol'
import type { InferResponse } from '@conch/protocol'
import type { ActiveRequest } from '../../request.ts'
import type { Scheduler, ScheduleParts, StepTarget } from '../contract.ts'
import { Stopping } from '../stopping.ts'
import { EnsemblePlan } from './plan.ts'
import { EnsembleRun } from './run.ts'
import type { EnsembleAnswer } from './run.ts'

/** Runs requests through their steps. It has no queue and no instances: the steps' own queues do the waiting. */
export class EnsembleScheduler implements Scheduler {
  readonly pending = 0
  inflight = 0
  readonly #parts: ScheduleParts
  readonly #plan: EnsemblePlan
  readonly #stopping = new Stopping(() => this.inflight)

  constructor(parts: ScheduleParts) {
    const { config, model, log } = parts
    this.#parts = parts
    this.#plan = new EnsemblePlan(config)
    const limit = config.ensemble_scheduling?.max_inflight_requests ?? 0
    if (limit === 0) return
    log?.write('info', `Ensemble model '${model}' configured with max_inflight_requests: ${limit}`)
  }

  enqueue(request: ActiveRequest): void {
    this.#stopping.admit(request)
    request.timings.queued = performance.now()
    // Throws when a step is not there any more; the others are not held then.
    const { sequenceId, sequenceStart } = request.request
    const open = sequenceStart || sequenceId === 0n || sequenceId === '' ? undefined : sequenceId
    const targets = this.#plan.steps.map(({ model, version }) => this.#parts.findStep(model, version, open))
    for (const target of targets) target.hold()
    this.inflight += 1
    void this.#run(request, targets)
  }

  async #run(request: ActiveRequest, targets: readonly StepTarget[]): Promise<void> {
    const emit = (answer: EnsembleAnswer) => request.respond(this.#describe(request, answer), false)
    const run = new EnsembleRun(request, { plan: this.#plan, targets, emit })
    try {
      const last = await run.run()
      stamp(request, run)
      this.#parts.reporter.execution(request.timings, request.rows)
      request.respond(last && this.#describe(request, last), true)
    } catch (error) {
      const cancelled = error instanceof ConchError && error.code === 'CANCELLED'
      request.fail(error, cancelled ? 'cancelled' : 'other')
    } finally {
      for (const target of targets) target.release()
      this.inflight -= 1
      this.#stopping.settle()
    }
  }

  #describe({ request: { id } }: ActiveRequest, { outputs, parameters }: EnsembleAnswer): InferResponse {
    const { model, version } = this.#parts
    return { model, version, id, parameters, outputs }
  }

  stop(): Promise<void> {
    return this.#stopping.stop()
  }
}

/** An ensemble's times are the sums of its steps' (ensemble §3). */
function stamp({ timings }: ActiveRequest, { sums }: EnsembleRun): void {
  timings.computeStart = timings.queued + sums.queue
  timings.computeInputEnd = timings.computeStart + sums.input
  timings.computeOutputStart = timings.computeInputEnd + sums.infer
  timings.computeEnd = timings.computeOutputStart + sums.output
}
