import { ConchError } from '@conch/protocol'
import type { ActiveRequest } from '../../request.ts'
import type { Scheduler, ScheduleParts, StepTarget } from '../contract.ts'
import { Stopping } from '../stopping.ts'
import { buildGraph } from './graph.ts'
import type { EnsembleGraph } from './graph.ts'
import { EnsembleRun } from './run.ts'

/** Runs requests through their steps. It has no queue and no instances: the steps' own queues do the waiting. */
export class EnsembleScheduler implements Scheduler {
  readonly pending = 0
  inflight = 0
  readonly #parts: ScheduleParts
  readonly #graph: EnsembleGraph
  readonly #stopping = new Stopping(() => this.inflight)

  constructor(parts: ScheduleParts) {
    this.#parts = parts
    this.#graph = buildGraph(parts.config)
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
    const { model, version, config, reporter } = this.#parts
    const run = new EnsembleRun(request, { config, graph: this.#graph, targets })
    try {
      const outputs = await run.run()
      stamp(request, run)
      reporter.execution(request.timings, request.rows)
      request.respond({ model, version, id: request.request.id, parameters: {}, outputs }, true)
    } catch (error) {
      const cancelled = error instanceof ConchError && error.code === 'CANCELLED'
      request.fail(error, cancelled ? 'cancelled' : 'other')
    } finally {
      for (const target of targets) target.release()
      this.inflight -= 1
      this.#stopping.settle()
    }
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
