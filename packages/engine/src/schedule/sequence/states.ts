import { BYTE_SIZE, ConchError, countElements, toProtocolDatatype } from '@conch/protocol'
import type { InitialState, ModelConfig, SequenceState, Tensor } from '@conch/protocol'

/** One tensor that the server keeps between the requests of a sequence. */
interface StatePlan {
  readonly output: string
  /** What a sequence starts with; never written to. */
  readonly initial: Tensor
}

export interface StateFacts {
  readonly batches: boolean
  /** `data_file` → its bytes. */
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly warn: (text: string) => void
}

/** The states of a model (sequence §5). Kept in the server's memory: they may change their shape from one request to the next. */
export class States {
  /** Whether two sequences may hold states of different shapes. */
  readonly vary: boolean
  readonly outputs: readonly string[]
  /** In the order of the config. */
  readonly initial: readonly Tensor[]
  readonly #plans: readonly StatePlan[]

  constructor(config: ModelConfig, facts: StateFacts) {
    const states = dropRepeated(config.sequence_batching?.state ?? [], facts.warn)
    this.#plans = states.map((state) => planState(state, facts))
    this.vary = states.some(({ dims }) => dims.some((dim) => dim < 0))
    this.initial = this.#plans.map(({ initial }) => initial)
    this.outputs = this.#plans.map(({ output }) => output)
  }

  /** What a request is given: START begins anew. */
  before({ start, sequence }: { readonly start: boolean; readonly sequence: { readonly states: readonly Tensor[] } }) {
    return start ? this.initial : sequence.states
  }

  /** What the next request of a sequence gets, after one that had `before` and made these outputs. */
  update(before: readonly Tensor[], outputs: readonly Tensor[]): readonly Tensor[] {
    return this.#plans.map(({ output, initial }, index) => {
      const made = outputs.find(({ name }) => name === output)
      return made === undefined ? (before[index] ?? initial) : { ...made, name: initial.name, data: keep(made.data) }
    })
  }

  /** Without the tensors that are only for the server; those that are outputs of the model as well stay. */
  hide(outputs: readonly Tensor[], visible: ReadonlySet<string>): readonly Tensor[] {
    if (this.#plans.length === 0) return outputs
    return outputs.filter(({ name }) => visible.has(name))
  }
}

/** A view on a batch's output would keep all of it alive. */
function keep(data: Uint8Array): Uint8Array {
  return data.byteLength * 2 > data.buffer.byteLength ? data : new Uint8Array(data)
}

function dropRepeated(states: readonly SequenceState[], warn: (text: string) => void): readonly SequenceState[] {
  const seen = new Set<string>()
  return states.filter((state) => {
    for (const field of ['input_name', 'output_name'] as const) {
      const name = state[field]
      const isNew = seen.size !== seen.add(`${field} ${name}`).size
      if (isNew) continue
      if (field === 'input_name' && state.initial_state.length > 0) {
        throw new ConchError('INVALID_ARG', `State input name '${name}' specified more than once.`)
      }
      warn(
        `Detected duplicate '${field}' in the state configuration: '${name}.' This state configuration will be ignored.`,
      )
      return false
    }
    return true
  })
}

function planState(state: SequenceState, { batches, files }: StateFacts): StatePlan {
  const { input_name: name, output_name: output, data_type, dims } = state
  const [first] = state.initial_state
  const datatype = toProtocolDatatype(data_type)
  if (datatype === undefined) {
    throw new ConchError('INVALID_ARG', `sequence state '${name}' must specify 'data_type'`)
  }
  const own = first?.dims ?? dims.map((dim) => (dim < 0 ? 1 : dim))
  const shape = batches ? [1, ...own] : own
  const size = countElements(own) * (datatype === 'BYTES' ? 4 : BYTE_SIZE[datatype])
  const data = first?.data_file === undefined ? new Uint8Array(size) : readFile(first, files, { size, datatype })
  return { output, initial: { name, datatype, shape, data } }
}

function readFile(
  { data_file: file = '' }: InitialState,
  files: ReadonlyMap<string, Uint8Array>,
  { size, datatype }: { readonly size: number; readonly datatype: string },
): Uint8Array {
  const data = files.get(file) ?? new Uint8Array()
  if (datatype === 'BYTES' || data.byteLength === size) return data
  if (data.byteLength > size) return data.subarray(0, size)
  const text = `initial_state setting expects ${size} bytes, but the data provided from ${file}only has`
  throw new ConchError('INVALID_ARG', `${text} ${data.byteLength} bytes. Raw little-endian bytes are expected`)
}
