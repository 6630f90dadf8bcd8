import type { ModelConfig, RequestedOutput } from '@conch/protocol'
import { buildGraph, pruneSteps, traceStreams } from './graph.ts'
import type { EnsembleGraph, GraphStep } from './graph.ts'
import { Permits } from './permits.ts'

/** A step with what is the same for every request. */
export interface PlannedStep extends GraphStep {
  /** Place in the config. */
  readonly index: number
  /** What it is asked for. */
  readonly asked: readonly RequestedOutput[]
  /** Steps that take what it makes. */
  readonly consumers: readonly number[]
  /** Where its requests are limited. */
  readonly permits: Permits | undefined
}

/** What a request wants of an ensemble. */
export interface Wish {
  readonly tensors: readonly string[]
  /** Ascending. */
  readonly needed: readonly number[]
}

/** An ensemble, prepared once. */
export class EnsemblePlan {
  readonly config: ModelConfig
  readonly graph: EnsembleGraph
  readonly steps: readonly PlannedStep[]
  readonly decoupled: boolean
  readonly #everything: Wish

  constructor(config: ModelConfig) {
    const limit = config.ensemble_scheduling?.max_inflight_requests ?? 0
    this.config = config
    this.graph = buildGraph(config)
    this.decoupled = config.model_transaction_policy?.decoupled === true
    this.steps = this.graph.steps.map((step, index) => ({
      ...step,
      index,
      asked: step.outputs.map(([name]) => ({ name, binary: true, classification: 0, region: undefined })),
      consumers: [...new Set(step.outputs.flatMap(([, tensor]) => this.graph.consumers.get(tensor) ?? []))],
      permits: limit === 0 ? undefined : new Permits(limit),
    }))
    this.#everything = this.#makeWish(config.output.map(({ name }) => name))
  }

  wish(outputs: readonly RequestedOutput[]): Wish {
    return outputs.length === 0 ? this.#everything : this.#makeWish([...new Set(outputs.map(({ name }) => name))])
  }

  #makeWish(tensors: readonly string[]): Wish {
    return { tensors, needed: [...pruneSteps(this.graph, tensors)].toSorted((a, b) => a - b) }
  }

  /** Tensors that come many times a request. `configs`: by step, of the versions that run them. */
  findStreams(configs: readonly ModelConfig[]): ReadonlySet<string> {
    if (!this.decoupled) return NO_STREAMS
    const decoupled = configs.map((config) => config.model_transaction_policy?.decoupled === true)
    return new Set(traceStreams(this.graph, decoupled).origins.keys())
  }
}

const NO_STREAMS: ReadonlySet<string> = new Set()
