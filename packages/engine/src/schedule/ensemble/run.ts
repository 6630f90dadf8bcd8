import { ConchError } from '@conch/protocol'
import type { ModelConfig, Tensor } from '@conch/protocol'
import { nameRequest, newTimings } from '../../request.ts'
import type { ActiveRequest, Timings } from '../../request.ts'
import type { StepTarget } from '../contract.ts'
import { pruneSteps } from './graph.ts'
import type { EnsembleGraph, GraphStep } from './graph.ts'

/** A tensor between steps; `batched`: its first dimension is the batch. Undefined data = an optional one that is absent. */
interface Passed {
  readonly tensor: Tensor | undefined
  readonly batched: boolean
}

export interface RunParts {
  readonly config: ModelConfig
  readonly graph: EnsembleGraph
  /** By step; held for as long as the run lasts. */
  readonly targets: readonly StepTarget[]
}

/**
 * One request through the graph: a step starts when all its inputs are there, several run side by side. The first error
 * wins; nothing starts after it, and the answer waits for what runs (ensemble §2).
 */
export class EnsembleRun {
  readonly #parts: RunParts
  readonly #request: ActiveRequest
  readonly #needed: ReadonlySet<number>
  readonly #tensors = new Map<string, Passed>()
  readonly #started = new Set<number>()
  readonly #done = Promise.withResolvers<void>()
  /** Sums over the steps: only the differences mean something. */
  readonly sums = { queue: 0, input: 0, infer: 0, output: 0 }
  #running = 0
  #error: unknown = undefined

  constructor(request: ActiveRequest, parts: RunParts) {
    this.#parts = parts
    this.#request = request
    this.#needed = pruneSteps(parts.graph, wantedOutputs(request, parts.config))
  }

  /** Throws the first error of a step, its text prefixed. */
  async run(): Promise<readonly Tensor[]> {
    const { config } = this.#parts
    const { inputs } = this.#request.request
    const batched = config.max_batch_size > 0
    for (const { name } of config.input) {
      this.#tensors.set(name, { tensor: inputs.find((input) => input.name === name), batched })
    }
    this.#startReady([...this.#needed].toSorted((a, b) => a - b))
    if (this.#running > 0) await this.#done.promise
    if (this.#error !== undefined) throw describeError(config.name, this.#error)
    return this.#collect()
  }

  #startReady(candidates: readonly number[]): void {
    for (const index of candidates) {
      const step = this.#parts.graph.steps[index]
      if (step === undefined || !this.#needed.has(index) || this.#started.has(index)) continue
      if (!step.inputs.every(([, tensor]) => this.#tensors.has(tensor))) continue
      this.#started.add(index)
      this.#running += 1
      void this.#runStep(index, step)
    }
  }

  async #runStep(index: number, step: GraphStep): Promise<void> {
    try {
      this.#check()
      const target = this.#parts.targets[index]
      if (target === undefined) throw new ConchError('INTERNAL', `step ${index} has no model`)
      const timings = newTimings()
      const { signal, chain } = this.#request
      const response = await target.run(this.#makeRequest(step, target), { signal, chain, timings })
      this.#add(timings)
      const batched = target.config.max_batch_size > 0
      for (const [output, tensor] of step.outputs) {
        this.#tensors.set(tensor, { tensor: response.outputs.find(({ name }) => name === output), batched })
      }
    } catch (error) {
      this.#error ??= error
    }
    this.#running -= 1
    if (this.#error === undefined) for (const [, tensor] of step.outputs) this.#startReady(this.#consumers(tensor))
    if (this.#running === 0) this.#done.resolve()
  }

  #consumers(tensor: string): readonly number[] {
    return this.#parts.graph.consumers.get(tensor) ?? []
  }

  #check(): void {
    if (this.#request.signal?.aborted === true) throw new ConchError('CANCELLED', '')
  }

  #makeRequest(step: GraphStep, target: StepTarget) {
    const inputs: Tensor[] = []
    for (const [input, name] of step.inputs) {
      const passed = this.#tensors.get(name)
      if (passed?.tensor !== undefined)
        inputs.push(fitBatch(passed.tensor, passed.batched, { input, config: target.config }))
    }
    const outputs = step.outputs.map(([name]) => ({ name, binary: true, classification: 0, region: undefined }))
    return { ...this.#request.request, model: step.model, version: step.version, inputs, outputs, binaryOutputs: true }
  }

  #add(timings: Timings): void {
    this.sums.queue += timings.computeStart - timings.queued
    this.sums.input += timings.computeInputEnd - timings.computeStart
    this.sums.infer += timings.computeOutputStart - timings.computeInputEnd
    this.sums.output += timings.computeEnd - timings.computeOutputStart
  }

  #collect(): readonly Tensor[] {
    const { config } = this.#parts
    const wanted = new Set(wantedOutputs(this.#request, config))
    const unset = [...wanted].some((name) => !this.#tensors.has(name))
    if (unset) {
      const what = 'unexpected deadlock, at least one output is not set while no more ensemble steps can be made'
      throw describeError(config.name, new ConchError('INVALID_ARG', nameRequest(this.#request.request.id) + what))
    }
    return config.output.flatMap(({ name }) => {
      const tensor = wanted.has(name) ? this.#tensors.get(name)?.tensor : undefined
      return tensor === undefined ? [] : [{ ...tensor, name }]
    })
  }
}

function wantedOutputs({ request }: ActiveRequest, config: ModelConfig): readonly string[] {
  return (request.outputs.length > 0 ? request.outputs : config.output).map(({ name }) => name)
}

/** The batch dimension comes or goes only where exactly one side batches and the shapes say so (ensemble §2.6). */
function fitBatch(tensor: Tensor, batched: boolean, to: { input: string; config: ModelConfig }): Tensor {
  const { input, config } = to
  const dims = config.input.find(({ name }) => name === input)?.dims ?? []
  const batches = config.max_batch_size > 0
  const named = { ...tensor, name: input }
  if (batches === batched) return named
  const same = isShape(tensor.shape, dims)
  if (batches) return same ? { ...named, shape: [1, ...tensor.shape] } : named
  return !same && tensor.shape[0] === 1 ? { ...named, shape: tensor.shape.slice(1) } : named
}

function isShape(shape: readonly number[], dims: readonly number[]): boolean {
  return shape.length === dims.length && dims.every((dim, i) => dim < 0 || dim === shape[i])
}

function describeError(ensemble: string, error: unknown): ConchError {
  const code = error instanceof ConchError ? error.code : 'INTERNAL'
  const text = error instanceof Error ? error.message : String(error)
  return new ConchError(code, `in ensemble '${ensemble}', ${text}`, { cause: error })
}
