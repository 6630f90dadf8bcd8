import { ConchError } from '@conch/protocol'
import type { ConfigDatatype, ModelConfig } from '@conch/protocol'
import { buildGraph, traceStreams } from './graph.ts'
import type { EnsembleGraph } from './graph.ts'

/** What a tensor of the ensemble is known to be, and from which model. */
interface Known {
  readonly model: string
  readonly type: ConfigDatatype
  readonly dims: readonly number[]
  readonly batches: boolean
}

/**
 * Whether an ensemble fits the models it is made of (ensemble §1, errors at load). `configs`: by step, effective.
 * Throws INVALID_ARG with the original's texts.
 */
export function checkSteps(ensemble: ModelConfig, configs: readonly ModelConfig[]): void {
  const known = new Map<string, Known>()
  for (const tensor of [...ensemble.input, ...ensemble.output]) known.set(tensor.name, describe(ensemble, tensor))
  const graph = buildGraph(ensemble)
  for (const [index, step] of graph.steps.entries()) {
    const config = configs[index]
    if (config === undefined) continue
    checkBatchSize(ensemble, config)
    for (const [input, tensor] of step.inputs) {
      const found = config.input.find(({ name }) => name === input)
      const what = `ensemble tensor ${tensor} is mapping to non-existing input ${input} in model ${step.model}`
      join(ensemble, known, { tensor, known: found && describe(config, found), missing: what })
    }
    for (const [output, tensor] of step.outputs) {
      const found = config.output.find(({ name }) => name === output)
      const what = `ensemble tensor ${tensor} is mapped from non-existing output ${output} in model ${step.model}`
      join(ensemble, known, { tensor, known: found && describe(config, found), missing: what })
    }
    const unmapped = config.input.find(({ name, optional }) => !optional && !step.inputs.some(([own]) => own === name))
    if (unmapped === undefined) continue
    refuse(ensemble, `input ${unmapped.name} in model ${step.model} is not mapped to any ensemble tensors`)
  }
  checkStreams(ensemble, graph, configs)
}

/** Answers of different decoupled models have nothing that tells which belong together. */
function checkStreams(ensemble: ModelConfig, graph: EnsembleGraph, configs: readonly ModelConfig[]): void {
  const { conflict } = traceStreams(
    graph,
    graph.steps.map((_, index) => isDecoupled(configs[index])),
  )
  if (conflict === undefined) return
  const model = graph.steps[conflict]?.model ?? ''
  refuse(ensemble, `step of model '${model}' receives inputs originated from different decoupled models`)
}

/** An ensemble is decoupled when a step is, whatever its config says (ensemble §1). */
export function inheritDecoupled(ensemble: ModelConfig, configs: readonly ModelConfig[]): ModelConfig {
  return { ...ensemble, model_transaction_policy: { decoupled: configs.some(isDecoupled) } }
}

function isDecoupled(config: ModelConfig | undefined): boolean {
  return config?.model_transaction_policy?.decoupled === true
}

function checkBatchSize(ensemble: ModelConfig, config: ModelConfig): void {
  const { max_batch_size: most } = config
  if (most === 0 || ensemble.max_batch_size <= most) return
  const text = `ensemble ${ensemble.name} allows maximum batch size ${ensemble.max_batch_size}`
  const limit = `but it contains model ${config.name} which only allows maximum batch size to be ${most}`
  throw new ConchError('INVALID_ARG', `${text}, ${limit}`)
}

function describe(config: ModelConfig, tensor: { data_type: ConfigDatatype; dims: readonly number[] }): Known {
  return { model: config.name, type: tensor.data_type, dims: tensor.dims, batches: config.max_batch_size > 0 }
}

function join(
  ensemble: ModelConfig,
  known: Map<string, Known>,
  mapped: { readonly tensor: string; readonly known: Known | undefined; readonly missing: string },
): void {
  const { tensor, known: next, missing } = mapped
  if (next === undefined) refuse(ensemble, missing)
  const first = known.get(tensor)
  if (first === undefined) known.set(tensor, next)
  else checkSame(ensemble, tensor, [first, next])
}

function checkSame(ensemble: ModelConfig, tensor: string, [a, b]: readonly [Known, Known]): void {
  if (a.type !== b.type) {
    const types = `${a.type} is inferred from model ${a.model} while ${b.type} is inferred from model ${b.model}`
    refuse(ensemble, `ensemble tensor ${tensor}: inconsistent data type: ${types}`)
  }
  const mixed = a.batches !== b.batches && (fits(a.dims, full(b)) || fits(full(a), b.dims))
  if (mixed || fits(full(a), full(b))) return
  const one = `[${full(a).join(',')}] is inferred from model ${a.model}`
  const other = `[${full(b).join(',')}] is inferred from model ${b.model}`
  refuse(ensemble, `ensemble tensor ${tensor}: inconsistent shape: ${one} while ${other}`)
}

function full({ dims, batches }: Known): readonly number[] {
  return batches ? [-1, ...dims] : dims
}

function fits(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((dim, i) => dim < 0 || (b[i] ?? -1) < 0 || dim === b[i])
}

function refuse(ensemble: ModelConfig, text: string): never {
  throw new ConchError('INVALID_ARG', `in ensemble ${ensemble.name}, ${text}`)
}
