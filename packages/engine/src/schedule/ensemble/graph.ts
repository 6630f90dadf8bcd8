import type { ModelConfig } from '@conch/protocol'

/** One step of an ensemble with its connections; names on the left are the step's, on the right the ensemble's. */
export interface GraphStep {
  readonly model: string
  /** Decimal text; '' = the highest ready one. */
  readonly version: string
  readonly inputs: readonly (readonly [string, string])[]
  readonly outputs: readonly (readonly [string, string])[]
}

export interface EnsembleGraph {
  readonly steps: readonly GraphStep[]
  /** Ensemble tensor → steps that take it. */
  readonly consumers: ReadonlyMap<string, readonly number[]>
  /** Ensemble tensor → the step that makes it. */
  readonly producers: ReadonlyMap<string, number>
}

export function buildGraph(config: ModelConfig): EnsembleGraph {
  const steps = (config.ensemble_scheduling?.step ?? []).map((step) => ({
    model: step.model_name,
    version: step.model_version < 0 ? '' : String(step.model_version),
    inputs: Object.entries(step.input_map),
    outputs: Object.entries(step.output_map),
  }))
  const consumers = new Map<string, number[]>()
  const producers = new Map<string, number>()
  for (const [index, { inputs, outputs }] of steps.entries()) {
    for (const tensor of new Set(inputs.map(([, name]) => name))) {
      consumers.set(tensor, [...(consumers.get(tensor) ?? []), index])
    }
    for (const [, tensor] of outputs) producers.set(tensor, index)
  }
  return { steps, consumers, producers }
}

/** The steps that are needed for the wanted outputs, in no order (ensemble §2.2). */
export function pruneSteps(graph: EnsembleGraph, wanted: Iterable<string>): ReadonlySet<number> {
  const needed = new Set<number>()
  const open = [...wanted]
  for (let tensor = open.pop(); tensor !== undefined; tensor = open.pop()) {
    const step = graph.producers.get(tensor)
    if (step === undefined || needed.has(step)) continue
    needed.add(step)
    open.push(...(graph.steps[step]?.inputs.map(([, name]) => name) ?? []))
  }
  return needed
}

export interface Streams {
  /** Tensors that come many times a request → the decoupled step that they go back to. */
  readonly origins: ReadonlyMap<string, number>
  /** A step whose inputs go back to different ones. */
  readonly conflict: number | undefined
}

/** Where streams of tensors come from. `decoupled`: by step, whether its model is. */
export function traceStreams(graph: EnsembleGraph, decoupled: readonly boolean[]): Streams {
  const origins = new Map<string, number>()
  for (let known = -1; known !== origins.size;) {
    known = origins.size
    for (const [index, step] of graph.steps.entries()) {
      const sources = new Set(step.inputs.flatMap(([, tensor]) => origins.get(tensor) ?? []))
      if (sources.size > 1) return { origins, conflict: index }
      const [source] = decoupled[index] === true ? [index] : sources
      markOutputs(origins, step, source)
    }
  }
  return { origins, conflict: undefined }
}

function markOutputs(origins: Map<string, number>, { outputs }: GraphStep, source: number | undefined): void {
  if (source === undefined) return
  for (const [, tensor] of outputs) origins.set(tensor, source)
}
