import { ConchError } from '@conch/protocol'
import type { InferRequest, InferResponse, Parameters, Tensor } from '@conch/protocol'
import { nameRequest, newTimings } from '../../request.ts'
import type { ActiveRequest, Timings } from '../../request.ts'
import type { StepTarget } from '../contract.ts'
import { fitBatch, passOutputs, PassedTensors, rename } from './passed.ts'
import type { Passed } from './passed.ts'
import type { EnsemblePlan, Wish } from './plan.ts'
import { printOverride } from './sequence-override.ts'
import { describeOwnError, describeStepError } from './step-error.ts'
import { StepRuns } from './step-runs.ts'
import type { Numbered, OpenRun } from './step-runs.ts'

export interface RunParts {
  readonly plan: EnsemblePlan
  /** By step; held for as long as the run lasts. */
  readonly targets: readonly StepTarget[]
  /** Takes every response of a decoupled ensemble but the last. */
  readonly emit: (answer: EnsembleAnswer) => void
}

export interface EnsembleAnswer {
  readonly outputs: readonly Tensor[]
  readonly parameters: Parameters
}

/**
 * One request through the graph: a step starts when all its inputs are there, several run side by side; what a decoupled
 * step makes goes on as it comes, in order. The first error wins; nothing starts after it, and the answer waits for what
 * runs (ensemble §2).
 */
export class EnsembleRun {
  readonly #parts: RunParts
  readonly #plan: EnsemblePlan
  readonly #request: ActiveRequest
  readonly #wish: Wish
  readonly #tensors: PassedTensors
  /** By step; undefined = nobody needs it. */
  readonly #steps: (StepRuns | undefined)[]
  /** Whether there is a response for every number. */
  readonly #repeats: boolean
  /** Sums over the steps: only the differences mean something. */
  readonly sums = { queue: 0, input: 0, infer: 0, output: 0 }
  #onDone: (() => void) | undefined = undefined
  #running = 0
  #error: ConchError | undefined = undefined
  /** Complete responses so far: the number of the next one. */
  #emitted = 0
  #last: EnsembleAnswer | undefined = undefined

  constructor(request: ActiveRequest, parts: RunParts) {
    const { plan, targets } = parts
    const wish = plan.wish(request.request.outputs)
    const streams = plan.findStreams(plan.decoupled ? targets.map(({ config }) => config) : [])
    this.#parts = parts
    this.#plan = plan
    this.#request = request
    this.#wish = wish
    this.#repeats = streams.size > 0 && wish.tensors.some((tensor) => streams.has(tensor))
    this.#tensors = new PassedTensors(streams, (tensor) => countUses(plan, wish, tensor))
    this.#steps = plan.steps.map(() => undefined)
    for (const index of wish.needed) {
      const step = plan.steps[index]
      const target = targets[index]
      if (step !== undefined && target !== undefined) this.#steps[index] = new StepRuns(step, target, streams)
    }
  }

  /** The last response, undefined when a decoupled ensemble has none left to give. Throws the first error of a step. */
  async run(): Promise<EnsembleAnswer | undefined> {
    const { config, decoupled } = this.#plan
    const { inputs } = this.#request.request
    const batched = config.max_batch_size > 0
    for (const { name } of config.input) {
      const tensor = inputs.find((input) => input.name === name)
      this.#tensors.put(name, 0, { tensor, batched, sequence: undefined })
    }
    for (const index of this.#wish.needed) this.#start(this.#steps[index])
    this.#collect()
    if (this.#running > 0) await new Promise<void>((resolve) => (this.#onDone = resolve))
    if (this.#error !== undefined) throw this.#error
    if (this.#emitted === 0 && !decoupled) this.#failDeadlock()
    return this.#last
  }

  #failDeadlock(): never {
    const what = 'unexpected deadlock, at least one output is not set while no more ensemble steps can be made'
    const text = nameRequest(this.#request.request.id) + what
    throw describeOwnError(this.#plan.config.name, new ConchError('INVALID_ARG', text))
  }

  /** Starts the step for every number for which its inputs are there. */
  #start(runs: StepRuns | undefined): void {
    while (runs !== undefined && this.#error === undefined && runs.hasNext) {
      const number = runs.next
      for (const [, tensor] of runs.step.inputs) if (this.#tensors.get(tensor, number) === undefined) return
      runs.next += 1
      this.#running += 1
      void this.#runStep(runs, number)
    }
  }

  async #runStep(runs: StepRuns, number: number): Promise<void> {
    const { permits } = runs.step
    const passed = this.#gather(runs, number)
    const open = runs.begin(number)
    try {
      const permit = permits?.take(this.#request.signal)
      if (permit !== undefined) await permit
      try {
        await this.#ask(runs, passed, open)
      } finally {
        permits?.give()
      }
    } catch (error) {
      this.#fail(runs, this.#explain(runs, passed, error))
    }
    this.#takeAll(runs, runs.end(open))
    this.#running -= 1
    if (this.#running === 0) this.#onDone?.()
  }

  #gather({ step }: StepRuns, number: number): readonly (Passed | undefined)[] {
    return step.inputs.map(([, tensor]) => {
      const passed = this.#tensors.get(tensor, number)
      this.#tensors.used(tensor, number)
      return passed
    })
  }

  /** Resolves when the step has ended. */
  async #ask(runs: StepRuns, passed: readonly (Passed | undefined)[], open: OpenRun): Promise<void> {
    const { signal, chain } = this.#request
    if (signal?.aborted === true) throw new ConchError('CANCELLED', '')
    if (this.#error !== undefined) return
    const timings = newTimings()
    const receive = (response: InferResponse) => this.#takeAll(runs, runs.receive(open, response))
    const onResponse = runs.decoupled ? receive : undefined
    const trace = this.#request.trace?.child()
    const context = { signal, chain, timings, trace, onResponse }
    const response = await runs.target.run(this.#makeRequest(runs, passed), context)
    this.#add(timings)
    if (response !== undefined) this.#take(runs, open.number, response)
  }

  #makeRequest({ step, target }: StepRuns, passed: readonly (Passed | undefined)[]): InferRequest {
    const { request } = this.#request
    const inputs: Tensor[] = []
    let sequence: Pick<InferRequest, 'sequenceId' | 'sequenceStart' | 'sequenceEnd'> = request
    for (const [index, [input]] of step.inputs.entries()) {
      const one = passed[index]
      if (one?.tensor !== undefined) inputs.push(fitBatch(one.tensor, one.batched, { input, config: target.config }))
      if (one?.sequence !== undefined && sequence === request) sequence = { ...request, ...one.sequence }
    }
    return {
      model: step.model,
      version: step.version,
      id: request.id,
      sequenceId: sequence.sequenceId,
      sequenceStart: sequence.sequenceStart,
      sequenceEnd: sequence.sequenceEnd,
      priority: request.priority,
      timeout: request.timeout,
      parameters: request.parameters,
      inputs,
      outputs: step.asked,
      binaryOutputs: true,
    }
  }

  #takeAll(runs: StepRuns, responses: Numbered): void {
    for (const [number, response] of responses) this.#take(runs, number, response)
  }

  /** What a step's response brings: other steps may start, and a response may be complete. */
  #take(runs: StepRuns, number: number, response: InferResponse): void {
    if (this.#error !== undefined) return
    try {
      passOutputs(this.#tensors, runs, [number, response])
    } catch (error) {
      this.#fail(runs, error)
      return
    }
    for (const index of runs.step.consumers) this.#start(this.#steps[index])
    this.#collect()
  }

  #fail(runs: StepRuns, error: unknown): void {
    const step = { number: runs.step.index + 1, model: runs.step.model }
    this.#error ??= describeStepError(this.#plan.config.name, step, error)
  }

  /** A step that lacks an input says so; which step owed it, only the ensemble knows. */
  #explain(runs: StepRuns, passed: readonly (Passed | undefined)[], error: unknown): unknown {
    const { step, target } = runs
    if (!(error instanceof ConchError) || error.code !== 'INVALID_ARG') return error
    const missing = step.inputs.find(([input], index) => {
      const optional = target.config.input.find(({ name }) => name === input)?.optional === true
      return passed[index]?.tensor === undefined && !optional
    })
    if (missing === undefined) return error
    const from = this.#plan.graph.producers.get(missing[1])
    if (from === undefined) return error
    const model = this.#plan.graph.steps[from]?.model ?? ''
    const fact = `step ${from + 1} '${model}' did not produce tensor '${missing[1]}'`
    return new ConchError(error.code, `${error.message} ${fact}`, { cause: error })
  }

  #add(timings: Timings): void {
    this.sums.queue += timings.computeStart - timings.queued
    this.sums.input += timings.computeInputEnd - timings.computeStart
    this.sums.infer += timings.computeOutputStart - timings.computeInputEnd
    this.sums.output += timings.computeEnd - timings.computeOutputStart
  }

  /** Responses that are complete go out in order. */
  #collect(): void {
    while (this.#repeats || this.#emitted === 0) {
      const number = this.#emitted
      for (const tensor of this.#wish.tensors) if (this.#tensors.get(tensor, number) === undefined) return
      const answer = this.#makeAnswer(number)
      this.#emitted += 1
      if (this.#repeats) this.#parts.emit(answer)
      else this.#last = answer
    }
  }

  #makeAnswer(number: number): EnsembleAnswer {
    let parameters: Parameters = {}
    const outputs: Tensor[] = []
    for (const { name } of this.#plan.config.output) {
      const passed = this.#wish.tensors.includes(name) ? this.#tensors.get(name, number) : undefined
      if (passed === undefined) continue
      this.#tensors.used(name, number)
      if (passed.sequence !== undefined) parameters = { ...printOverride(passed.sequence), ...parameters }
      if (passed.tensor !== undefined) outputs.push(rename(passed.tensor, name))
    }
    return { outputs, parameters }
  }
}

/** How often a tensor is asked for at each number. */
function countUses(plan: EnsemblePlan, wish: Wish, tensor: string): number {
  const consumers = (plan.graph.consumers.get(tensor) ?? []).filter((step) => wish.needed.includes(step))
  return consumers.length + (wish.tensors.includes(tensor) ? 1 : 0)
}
