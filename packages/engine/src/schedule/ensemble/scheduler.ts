import { ConchError } from '@conch/protocol'
import type { ActiveRequest } from '../../request.ts'
import type { Scheduler, ScheduleParts, StepTarget } from '../contract.ts'
import { Stopping } from '../stopping.ts'
import { buildGraph, traceStreams } from './graph.ts'
import type { EnsembleGraph } from './graph.ts'
import { Permits } from './permits.ts'
import { EnsembleRun } from './run.ts'
import type { EnsembleAnswer } from './run.ts'

const NO_STREAMS: ReadonlySet<string> = new Set()

/** Runs requests through their steps. It has no queue and no instances: the steps' own queues do the waiting. */
export class EnsembleScheduler implements Scheduler {
  readonly pending = 0
  inflight = 0
  readonly #parts: ScheduleParts
  readonly #graph: EnsembleGraph
  readonly #permits: readonly Permits[]
  readonly #stopping = new Stopping(() => this.inflight)

  constructor(parts: ScheduleParts) {
    const { config, model, log } = parts
    this.#parts = parts
    this.#graph = buildGraph(config)
    const limit = config.ensemble_scheduling?.max_inflight_requests ?? 0
    this.#permits = limit === 0 ? [] : this.#graph.steps.map(() => new Permits(limit))
    if (limit === 0) return
    log?.write('info', `Ensemble model '${model}' configured with max_inflight_requests: ${limit}`)
  }

  enqueue(request: ActiveRequest): void {
    this.#stopping.admit(request)
    request.timings.queued = performance.now()
    // Throws when a step is not there any more; the others are not held then.
    const targets = this.#graph.steps.map(({ model, version }) => this.#parts.findStep(model, version))
    for (const target of targets) target.hold()
    this.inflight += 1
    void this.#run(request, targets)
  }

  async #run(request: ActiveRequest, targets: readonly StepTarget[]): Promise<void> {
    const { config, reporter } = this.#parts
    const respond = (answer: EnsembleAnswer | undefined, final: boolean) => {
      const { model, version } = this.#parts
      request.respond(answer && { model, version, id: request.request.id, ...answer }, final)
    }
    const emit = (answer: EnsembleAnswer) => respond(answer, false)
    const streams = this.#findStreams(targets)
    const run = new EnsembleRun(request, { config, graph: this.#graph, targets, streams, permits: this.#permits, emit })
    try {
      const last = await run.run()
      stamp(request, run)
      reporter.execution(request.timings, request.rows)
      respond(last, true)
    } catch (error) {
      const cancelled = error instanceof ConchError && error.code === 'CANCELLED'
      request.fail(error, cancelled ? 'cancelled' : 'other')
    } finally {
      for (const target of targets) target.release()
      this.inflight -= 1
      this.#stopping.settle()
    }
  }

  #findStreams(targets: readonly StepTarget[]): ReadonlySet<string> {
    const decoupled = targets.map(({ config }) => config.model_transaction_policy?.decoupled === true)
    return decoupled.includes(true) ? new Set(traceStreams(this.#graph, decoupled).origins.keys()) : NO_STREAMS
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
