import type { InferResponse, ModelConfig, Tensor } from '@conch/protocol'
import type { StepTarget } from '../contract.ts'
import type { GraphStep } from './graph.ts'
import { readOverride } from './sequence-override.ts'
import type { SequenceOverride } from './sequence-override.ts'

/** A tensor between steps. */
export interface Passed {
  /** Undefined = an optional one that is absent. */
  readonly tensor: Tensor | undefined
  /** Its first dimension is the batch. */
  readonly batched: boolean
  /** What the response that brought it said about sequences. */
  readonly sequence: SequenceOverride | undefined
}

/**
 * The tensors of one request through an ensemble. Those that come from a decoupled step are many, told apart by number;
 * the others are one and go with every number. What everybody has used is let go.
 */
export class PassedTensors {
  readonly #single = new Map<string, Passed>()
  /** Undefined when every tensor is one. */
  readonly #streams: Map<string, Map<number, Passed>> | undefined
  readonly #uses: (tensor: string) => number
  /** Uses that are left. */
  readonly #left: Map<Passed, number> | undefined

  /** `streams`: tensors that are many; `uses`: how often each of them is asked for. */
  constructor(streams: ReadonlySet<string>, uses: (tensor: string) => number) {
    this.#streams = streams.size === 0 ? undefined : new Map([...streams].map((name) => [name, new Map()]))
    this.#left = streams.size === 0 ? undefined : new Map()
    this.#uses = uses
  }

  get(tensor: string, number: number): Passed | undefined {
    const stream = this.#streams?.get(tensor)
    return stream === undefined ? this.#single.get(tensor) : stream.get(number)
  }

  put(tensor: string, number: number, passed: Passed): void {
    const stream = this.#streams?.get(tensor)
    if (stream === undefined) {
      this.#single.set(tensor, passed)
      return
    }
    const uses = this.#uses(tensor)
    if (uses === 0) return
    stream.set(number, passed)
    this.#left?.set(passed, uses)
  }

  /** One of those who asked for it has it. */
  used(tensor: string, number: number): void {
    const stream = this.#streams?.get(tensor)
    const passed = stream?.get(number)
    if (stream === undefined || passed === undefined) return
    const left = (this.#left?.get(passed) ?? 1) - 1
    this.#left?.set(passed, left)
    if (left > 0) return
    this.#left?.delete(passed)
    stream.delete(number)
  }
}

/** Puts what a step's response brings where the ensemble's names say. */
export function passOutputs(
  tensors: PassedTensors,
  { step, target }: { readonly step: GraphStep; readonly target: StepTarget },
  [number, response]: readonly [number: number, response: InferResponse],
): void {
  const batched = target.config.max_batch_size > 0
  const sequence = readOverride(response.parameters)
  for (const [output, name] of step.outputs) {
    const tensor = response.outputs.find((one) => one.name === output)
    tensors.put(name, number, { tensor, batched, sequence })
  }
}

export function rename({ datatype, shape, data }: Tensor, name: string): Tensor {
  return { name, datatype, shape, data }
}

/** The batch dimension comes or goes only where exactly one side batches and the shapes say so (ensemble §2.6). */
export function fitBatch(tensor: Tensor, batched: boolean, to: { input: string; config: ModelConfig }): Tensor {
  const { input, config } = to
  const batches = config.max_batch_size > 0
  const named = rename(tensor, input)
  if (batches === batched) return named
  const dims = config.input.find(({ name }) => name === input)?.dims ?? []
  const same = isShape(tensor.shape, dims)
  if (batches) return same ? { ...named, shape: [1, ...tensor.shape] } : named
  return !same && tensor.shape[0] === 1 ? { ...named, shape: tensor.shape.slice(1) } : named
}

function isShape(shape: readonly number[], dims: readonly number[]): boolean {
  return shape.length === dims.length && dims.every((dim, i) => dim < 0 || dim === shape[i])
}
