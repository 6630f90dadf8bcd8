import type { Complaints } from './complaints.ts'
import type { InitialState, SequenceState } from './schema.ts'

/** Initial values of sequence states; the original looks at them when it makes the scheduler, after everything else. */
export function checkStates(complaints: Complaints): void {
  for (const [index, state] of (complaints.config.sequence_batching?.state ?? []).entries()) {
    const path = `sequence_batching.state[${String(index)}]`
    const [initial, second] = state.initial_state
    if (second !== undefined) {
      const count = String(state.initial_state.length)
      const original = `initial_state field for state input '${state.input_name}' must contain exactly one or zero element. Found '${count}' elements.`
      complaints.add(`${path}.initial_state`, original)
    } else if (initial !== undefined) checkInitial(complaints, { state, initial, path: `${path}.initial_state[0]` })
  }
}

interface Place {
  readonly state: SequenceState
  readonly initial: InitialState
  readonly path: string
}

function checkInitial(complaints: Complaints, place: Place): void {
  const { state, initial, path } = place
  const input = state.input_name
  if (initial.name === '') {
    complaints.add(path, `Field 'name' must be set when using initial_state for state input '${input}'.`)
  }
  if (initial.data_type !== state.data_type) {
    const original = `The data type used for 'initial_state' field of state '${input}' does not match the state data type.`
    const repair = { title: `Set ${state.data_type}`, path: `${path}.data_type`, value: state.data_type }
    complaints.add(`${path}.data_type`, original, { hint: `${initial.data_type} and ${state.data_type}`, repair })
  }
  checkInitialDims(complaints, place)
  if (initial.zero_data === undefined && initial.data_file === undefined) {
    const repair = { title: 'Start with zeros', path: `${path}.zero_data`, value: true }
    complaints.add(path, `initial_state setting expects state'${input}' to have state_data set`, { repair })
  }
}

function checkInitialDims(complaints: Complaints, { state, initial, path }: Place): void {
  const input = state.input_name
  if (initial.dims.length !== state.dims.length) {
    const counts = `${String(initial.dims.length)} != ${String(state.dims.length)}`
    const original = `Number of dimensions in 'initial_state' doesn't match the size of 'state' dimensions for state input '${input}'. ${counts}`
    complaints.add(`${path}.dims`, original)
    return
  }
  if (initial.dims.some((dim) => dim < 0)) {
    complaints.add(
      `${path}.dims`,
      `'initial_state' field for state input name '${input}' contains variable dimensions.`,
    )
  }
  for (const [index, dim] of initial.dims.entries()) {
    const wanted = state.dims[index] ?? -1
    if (dim < 0 || wanted < 0 || wanted === dim) continue
    const original = `'initial_state' dim for input name '${input}' doesn't match 'state' dim description. ${String(dim)} != ${String(wanted)}`
    complaints.add(`${path}.dims[${String(index)}]`, original)
  }
}
