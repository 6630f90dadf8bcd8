import { toProtocolDatatype } from '@conch/protocol'
import type { BatchInput, BatchOutput, Datatype, ModelConfig, ModelInput, ModelOutput } from '@conch/protocol'
import { toElementType } from './element-type.ts'
import type { Reshape } from './reshape.ts'
import type { ModelValue, Signature } from './signature.ts'

/** How one input of the model is fed. */
export interface FeedPlan {
  readonly name: string
  readonly datatype: Datatype
  readonly elementType: number
  /** From what a client sends to what the model takes. */
  readonly reshape: Reshape | undefined
  /** The model takes a value without dimensions where the client sends [1]. */
  readonly scalar: boolean
  /** Requests are joined as flat sequences, whatever their shapes. */
  readonly ragged: boolean
  /** Left out when the request does not bring it: then the model's initialiser holds. */
  readonly optional: boolean
  /** Computed from another input's shapes instead of being sent. */
  readonly generated: BatchInput | undefined
  /** Names of variable dimensions, as the model declares them. */
  readonly symbols: readonly string[]
}

/** How one output of the model is taken. */
export interface FetchPlan {
  readonly name: string
  readonly datatype: Datatype
  readonly elementType: number
  /** From what the model gives to what a client gets. */
  readonly reshape: Reshape | undefined
  /** What a client gets for a value without dimensions. */
  readonly scalarDims: readonly number[] | undefined
  /** Cut by the shapes of this input instead of by rows. */
  readonly scatteredBy: string | undefined
  readonly dims: readonly number[] | undefined
  readonly symbols: readonly string[]
}

/** One entry per input of the model that can be fed. The config has been checked against the signature. */
export function planFeeds(config: ModelConfig, signature: Signature): readonly FeedPlan[] {
  const configured = new Map(config.input.map((input) => [input.name, input]))
  const optional = new Set(signature.overridable.map(({ name }) => name))
  const generated = new Map(config.batch_input.flatMap((one) => one.target_name.map((name) => [name, one] as const)))
  const plans: FeedPlan[] = []
  for (const value of [...signature.inputs, ...signature.overridable]) {
    const input = configured.get(value.name)
    const maker = generated.get(value.name)
    // An initialiser that the config does not name stays what it is.
    if (input === undefined && optional.has(value.name)) continue
    const plan = planFeed(value, input, config.max_batch_size > 0)
    if (plan !== undefined) plans.push({ ...plan, optional: optional.has(value.name), generated: maker })
  }
  // In the config's order: requests mostly follow it.
  const order = new Map(config.input.map(({ name }, index) => [name, index]))
  return plans.toSorted((a, b) => (order.get(a.name) ?? order.size) - (order.get(b.name) ?? order.size))
}

function planFeed(value: ModelValue, input: ModelInput | undefined, batches: boolean) {
  const datatype = input === undefined ? value.datatype : toProtocolDatatype(input.data_type)
  if (datatype === undefined) return undefined
  return {
    name: value.name,
    datatype,
    elementType: toElementType(datatype),
    reshape: input?.reshape && { from: input.dims, to: input.reshape.shape, kept: batches ? 1 : 0 },
    scalar: value.dims?.length === 0,
    ragged: input?.allow_ragged_batch ?? false,
    symbols: value.symbols,
  }
}

/** The configured outputs in the config's order, then those that carry the state of sequences. */
export function planFetches(config: ModelConfig, signature: Signature): readonly FetchPlan[] {
  const values = new Map(signature.outputs.map((value) => [value.name, value]))
  const scatter = new Map(config.batch_output.flatMap((one) => one.target_name.map((name) => [name, one] as const)))
  const outputs = config.output.flatMap((output) => {
    const datatype = toProtocolDatatype(output.data_type)
    const by = scatter.get(output.name)
    return datatype === undefined ? [] : [planFetch(output, { datatype, value: values.get(output.name), by, config })]
  })
  const states = (config.sequence_batching?.state ?? []).flatMap(({ output_name: name, data_type }) => {
    const datatype = toProtocolDatatype(data_type)
    if (datatype === undefined || config.output.some((output) => output.name === name)) return []
    return [planFetch({ name, dims: [] }, { datatype, value: values.get(name), by: undefined, config })]
  })
  return [...outputs, ...states]
}

interface FetchFacts {
  readonly datatype: Datatype
  readonly value: ModelValue | undefined
  readonly by: BatchOutput | undefined
  readonly config: ModelConfig
}

function planFetch(output: Pick<ModelOutput, 'name' | 'dims' | 'reshape'>, facts: FetchFacts): FetchPlan {
  const { datatype, value, by, config } = facts
  const isScalar = value?.dims?.length === 0 && output.reshape === undefined
  const kept = config.max_batch_size > 0 ? 1 : 0
  return {
    name: output.name,
    datatype,
    elementType: toElementType(datatype),
    reshape: output.reshape && { from: output.reshape.shape, to: output.dims, kept },
    scalarDims: isScalar ? output.dims : undefined,
    scatteredBy: by?.source_input[0],
    dims: value?.dims,
    symbols: value?.symbols ?? [],
  }
}
