import { ConchError } from '@conch/protocol'
import type { InferRequest, InferResponse, ModelConfig, Parameters, Tensor } from '@conch/protocol'
import { nameRequest, newTimings } from '../../request.ts'
import type { ActiveRequest, Timings } from '../../request.ts'
import type { StepTarget } from '../contract.ts'
import { pruneSteps } from './graph.ts'
import type { EnsembleGraph } from './graph.ts'
import { fitBatch, passOutputs, PassedTensors } from './passed.ts'
import type { Passed } from './passed.ts'
import type { Permits } from './permits.ts'
import { printOverride } from './sequence-override.ts'
import { describeOwnError, describeStepError } from './step-error.ts'
import { StepRuns } from './step-runs.ts'

export interface RunParts {
  readonly config: ModelConfig
  readonly graph: EnsembleGraph
  /** By step; held for as long as the run lasts. */
  readonly targets: readonly StepTarget[]
  /** Tensors that come many times, from a decoupled step. */
  readonly streams: ReadonlySet<string>
  /** By step, where requests of one step are limited. */
  readonly permits: readonly Permits[]
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
  readonly #request: ActiveRequest
  readonly #needed: ReadonlySet<number>
  readonly #wanted: ReadonlySet<string>
  readonly #tensors: PassedTensors
  /** By step, as far as they are needed. */
  readonly #steps = new Map<number, StepRuns>()
  readonly #done = Promise.withResolvers<void>()
  /** Sums over the steps: only the differences mean something. */
  readonly sums = { queue: 0, input: 0, infer: 0, output: 0 }
  #running = 0
  #error: ConchError | undefined = undefined
  /** Complete responses so far: the number of the next one. */
  #emitted = 0
  #last: EnsembleAnswer | undefined = undefined

  constructor(request: ActiveRequest, parts: RunParts) {
    const { graph, config, streams } = parts
    const { outputs } = request.request
    this.#parts = parts
    this.#request = request
    this.#wanted = new Set((outputs.length > 0 ? outputs : config.output).map(({ name }) => name))
    this.#needed = pruneSteps(graph, this.#wanted)
    this.#tensors = new PassedTensors(streams, (tensor) => {
      const consumers = (graph.consumers.get(tensor) ?? []).filter((step) => this.#needed.has(step))
      return consumers.length + (this.#wanted.has(tensor) ? 1 : 0)
    })
    for (const index of [...this.#needed].toSorted((a, b) => a - b)) {
      const step = graph.steps[index]
      const target = parts.targets[index]
      if (step === undefined || target === undefined) continue
      const repeats = step.inputs.some(([, tensor]) => streams.has(tensor))
      this.#steps.set(index, new StepRuns({ index, step, target, repeats }))
    }
  }

  /** The last response, undefined when a decoupled ensemble has none left to give. Throws the first error of a step. */
  async run(): Promise<EnsembleAnswer | undefined> {
    const { config } = this.#parts
    const { inputs } = this.#request.request
    const batched = config.max_batch_size > 0
    for (const { name } of config.input) {
      const tensor = inputs.find((input) => input.name === name)
      this.#tensors.put(name, 0, { tensor, batched, sequence: undefined })
    }
    for (const runs of this.#steps.values()) this.#start(runs)
    this.#collect()
    if (this.#running > 0) await this.#done.promise
    if (this.#error !== undefined) throw this.#error
    if (this.#emitted === 0 && config.model_transaction_policy?.decoupled !== true) this.#failDeadlock()
    return this.#last
  }

  #failDeadlock(): never {
    const what = 'unexpected deadlock, at least one output is not set while no more ensemble steps can be made'
    const text = nameRequest(this.#request.request.id) + what
    throw describeOwnError(this.#parts.config.name, new ConchError('INVALID_ARG', text))
  }

  /** Starts the step for every number for which its inputs are there. */
  #start(runs: StepRuns): void {
    const { inputs } = runs.step
    while (this.#error === undefined && runs.hasNext) {
      const number = runs.next
      if (!inputs.every(([, tensor]) => this.#tensors.get(tensor, number) !== undefined)) return
      runs.next += 1
      this.#running += 1
      void this.#runStep(runs, number)
    }
  }

  async #runStep(runs: StepRuns, number: number): Promise<void> {
    const permits = this.#parts.permits[runs.index]
    const passed = this.#gather(runs, number)
    const open = runs.begin(number)
    try {
      const permit = permits?.take(this.#request.signal)
      if (permit !== undefined) await permit
      try {
        const response = await this.#ask(runs, passed, (one) => this.#take(runs, runs.receive(open, one)))
        if (response !== undefined) this.#take(runs, runs.receive(open, response))
      } finally {
        permits?.give()
      }
    } catch (error) {
      this.#fail(runs, this.#explain(runs, passed, error))
    }
    this.#take(runs, runs.end(open))
    this.#running -= 1
    if (this.#running === 0) this.#done.resolve()
  }

  #gather({ step }: StepRuns, number: number): readonly Passed[] {
    return step.inputs.map(([, tensor]) => {
      const passed = this.#tensors.get(tensor, number) ?? { tensor: undefined, batched: false, sequence: undefined }
      this.#tensors.used(tensor, number)
      return passed
    })
  }

  /** Resolves when the step has ended; to its response unless it is decoupled. */
  async #ask(
    runs: StepRuns,
    passed: readonly Passed[],
    onResponse: (response: InferResponse) => void,
  ): Promise<InferResponse | undefined> {
    const { signal, chain } = this.#request
    if (signal?.aborted === true) throw new ConchError('CANCELLED', '')
    if (this.#error !== undefined) return undefined
    const timings = newTimings()
    const listener = runs.decoupled ? onResponse : undefined
    const request = this.#makeRequest(runs, passed)
    const response = await runs.target.run(request, { signal, chain, timings, onResponse: listener })
    this.#add(timings)
    return response
  }

  #makeRequest({ step, target }: StepRuns, passed: readonly Passed[]): InferRequest {
    const inputs: Tensor[] = []
    for (const [index, [input]] of step.inputs.entries()) {
      const { tensor, batched } = passed[index] ?? { tensor: undefined, batched: false }
      if (tensor !== undefined) inputs.push(fitBatch(tensor, batched, { input, config: target.config }))
    }
    const outputs = step.outputs.map(([name]) => ({ name, binary: true, classification: 0, region: undefined }))
    const { request } = this.#request
    const own = { model: step.model, version: step.version, inputs, outputs, binaryOutputs: true }
    return { ...request, ...own, ...passed.find(({ sequence }) => sequence !== undefined)?.sequence }
  }

  /** What a step's responses bring: other steps may start, and a response may be complete. */
  #take(runs: StepRuns, responses: readonly (readonly [number: number, response: InferResponse])[]): void {
    for (const [number, response] of responses) {
      if (this.#error !== undefined) return
      try {
        const passed = passOutputs(runs.step.outputs, response, runs.target.config)
        for (const [tensor, one] of passed) this.#tensors.put(tensor, number, one)
      } catch (error) {
        this.#fail(runs, error)
        return
      }
      for (const index of this.#consumersOf(runs)) {
        const next = this.#steps.get(index)
        if (next !== undefined) this.#start(next)
      }
      this.#collect()
    }
  }

  #consumersOf({ step }: StepRuns): ReadonlySet<number> {
    return new Set(step.outputs.flatMap(([, tensor]) => this.#parts.graph.consumers.get(tensor) ?? []))
  }

  #fail(runs: StepRuns, error: unknown): void {
    const step = { number: runs.index + 1, model: runs.step.model }
    this.#error ??= describeStepError(this.#parts.config.name, step, error)
  }

  /** A step that lacks an input says so; which step owed it, only the ensemble knows. */
  #explain(runs: StepRuns, passed: readonly Passed[], error: unknown): unknown {
    const { step, target } = runs
    if (!(error instanceof ConchError) || error.code !== 'INVALID_ARG') return error
    const missing = step.inputs.find(([input], index) => {
      const optional = target.config.input.find(({ name }) => name === input)?.optional === true
      return passed[index]?.tensor === undefined && !optional
    })
    if (missing === undefined) return error
    const from = this.#parts.graph.producers.get(missing[1])
    if (from === undefined) return error
    const model = this.#parts.graph.steps[from]?.model ?? ''
    const fact = `step ${from + 1} '${model}' did not produce tensor '${missing[1]}'`
    return new ConchError(error.code, `${error.message} ${fact}`, { cause: error })
  }

  #add(timings: Timings): void {
    this.sums.queue += timings.computeStart - timings.queued
    this.sums.input += timings.computeInputEnd - timings.computeStart
    this.sums.infer += timings.computeOutputStart - timings.computeInputEnd
    this.sums.output += timings.computeEnd - timings.computeOutputStart
  }

  /** Responses that are complete go out in order; the last one waits until it is known to be. */
  #collect(): void {
    const wanted = [...this.#wanted]
    const repeats = wanted.some((tensor) => this.#tensors.isStream(tensor))
    while (repeats || this.#emitted === 0) {
      const number = this.#emitted
      if (!wanted.every((tensor) => this.#tensors.get(tensor, number) !== undefined)) return
      const answer = this.#makeAnswer(number)
      this.#emitted += 1
      if (!repeats) this.#last = answer
      else this.#parts.emit(answer)
    }
  }

  #makeAnswer(number: number): EnsembleAnswer {
    let parameters: Parameters = {}
    const outputs: Tensor[] = []
    for (const { name } of this.#parts.config.output) {
      const passed = this.#wanted.has(name) ? this.#tensors.get(name, number) : undefined
      this.#tensors.used(name, number)
      if (passed?.sequence !== undefined) parameters = { ...printOverride(passed.sequence), ...parameters }
      if (passed?.tensor !== undefined) outputs.push({ ...passed.tensor, name })
    }
    return { outputs, parameters }
  }
}
