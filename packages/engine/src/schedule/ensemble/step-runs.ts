import type { InferResponse } from '@conch/protocol'
import type { StepTarget } from '../contract.ts'
import type { PlannedStep } from './plan.ts'

/** One execution of a step. */
export interface OpenRun {
  readonly number: number
  /** Responses that wait for those of earlier runs. */
  readonly held: InferResponse[]
  ended: boolean
}

export type Numbered = readonly (readonly [number: number, response: InferResponse])[]
const NONE: Numbered = []

/**
 * The executions of one step within one request, started in the order of their inputs' numbers. A response has the number
 * of its inputs; those of a decoupled step are numbered anew, all of one execution before those of the next.
 */
export class StepRuns {
  readonly step: PlannedStep
  readonly target: StepTarget
  readonly decoupled: boolean
  /** Number of the inputs that it runs with next. */
  next = 0
  /** It runs once for every number of its inputs. */
  readonly #repeats: boolean
  /** Executions whose responses are not all numbered; only those of decoupled steps. */
  readonly #open: OpenRun[] = []
  #made = 0

  /** `streams`: tensors that come many times. */
  constructor(step: PlannedStep, target: StepTarget, streams: ReadonlySet<string>) {
    this.step = step
    this.target = target
    this.decoupled = target.config.model_transaction_policy?.decoupled === true
    this.#repeats = streams.size > 0 && step.inputs.some(([, tensor]) => streams.has(tensor))
  }

  get hasNext(): boolean {
    return this.#repeats || this.next === 0
  }

  begin(number: number): OpenRun {
    const run = { number, held: [], ended: false }
    if (this.decoupled) this.#open.push(run)
    return run
  }

  /** The responses of a decoupled step that can go on now. */
  receive(run: OpenRun, response: InferResponse): Numbered {
    run.held.push(response)
    return this.#number()
  }

  end(run: OpenRun): Numbered {
    run.ended = true
    return this.#open.length === 0 ? NONE : this.#number()
  }

  #number(): Numbered {
    const numbered: [number, InferResponse][] = []
    for (let run = this.#open[0]; run !== undefined; run = this.#open[0]) {
      for (const response of run.held.splice(0)) numbered.push([this.#made++, response])
      if (!run.ended) break
      this.#open.shift()
    }
    return numbered
  }
}
