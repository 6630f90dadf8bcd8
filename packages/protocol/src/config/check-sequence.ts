import { checkPreferred } from './check-batching.ts'
import type { Complaints } from './complaints.ts'
import type { ControlKind, ModelSequenceBatching, SequenceControl } from './schema.ts'

const LISTS = ['int32_false_true', 'fp32_false_true', 'bool_false_true'] as const
const ANY_LIST = "'int32_false_true', 'fp32_false_true' and 'bool_false_true'"
const EITHER_LIST = "'int32_false_true', 'fp32_false_true' or 'bool_false_true'"
const CORRID = 'CONTROL_SEQUENCE_CORRID'
const CORRID_TYPES = ['TYPE_UINT64', 'TYPE_INT64', 'TYPE_UINT32', 'TYPE_INT32', 'TYPE_STRING']
/** The order in which the original looks at them. */
const KINDS: readonly ControlKind[] = [
  'CONTROL_SEQUENCE_START',
  'CONTROL_SEQUENCE_END',
  'CONTROL_SEQUENCE_READY',
  CORRID,
]

export function checkSequence(complaints: Complaints): void {
  const { sequence_batching: batching, name } = complaints.config
  if (batching === undefined) return
  checkControlNames(complaints, batching)
  for (const kind of KINDS) checkKind(complaints, batching, kind)
  const slots = batching.direct?.minimum_slot_utilization
  if (slots !== undefined && !(slots >= 0 && slots <= 1)) {
    const original = `sequence batching minimum slot utilization must be in range (0.0, 1.0] for ${name}`
    complaints.add('sequence_batching.direct.minimum_slot_utilization', original, { hint: `it is ${String(slots)}` })
  }
  if (batching.oldest === undefined) return
  const path = 'sequence_batching.oldest.preferred_batch_size'
  const kind = 'sequence batching preferred batch size'
  checkPreferred(complaints, { sizes: batching.oldest.preferred_batch_size, path, kind })
}

function checkControlNames(complaints: Complaints, batching: ModelSequenceBatching): void {
  const { name } = complaints.config
  const seen = new Set<string>()
  for (const [index, input] of batching.control_input.entries()) {
    const path = `sequence_batching.control_input[${String(index)}]`
    if (input.name === '') complaints.add(path, `sequence batching control tensor must have a name for ${name}`)
    else if (seen.has(input.name)) {
      const original = `sequence batching control tensor '${input.name}' is specified for multiple control kinds for ${name}`
      complaints.add(`${path}.name`, original)
    }
    seen.add(input.name)
  }
}

function checkKind(complaints: Complaints, batching: ModelSequenceBatching, kind: ControlKind): void {
  const { name } = complaints.config
  let seen = false
  for (const [index, input] of batching.control_input.entries()) {
    for (const [place, control] of input.control.entries()) {
      if (control.kind !== kind) continue
      const path = `sequence_batching.control_input[${String(index)}].control[${String(place)}]`
      if (seen) complaints.add(path, `sequence batching specifies multiple ${kind} tensors for ${name}`)
      else if (kind === CORRID) checkCorrelation(complaints, control, path)
      else checkSignal(complaints, control, path)
      seen = true
    }
  }
}

function checkSignal(complaints: Complaints, control: SequenceControl, path: string): void {
  const { name } = complaints.config
  const given = LISTS.filter((list) => control[list].length > 0)
  const [only] = given
  const end = `for ${control.kind} for ${name}`
  if (only === undefined) {
    const repair = { title: 'Add int32_false_true: [ 0, 1 ]', path: `${path}.int32_false_true`, value: [0, 1] }
    complaints.add(path, `sequence batching must specify either ${EITHER_LIST} ${end}`, { repair })
  } else if (given.length > 1) {
    complaints.add(path, `sequence batching specifies more than one from ${ANY_LIST} ${end}`)
  } else if (control[only].length !== 2) {
    const original = `sequence batching control '${only}' must have exactly 2 entries ${end}`
    complaints.add(`${path}.${only}`, original, { hint: 'the value for false and the value for true' })
  }
}

function checkCorrelation(complaints: Complaints, control: SequenceControl, path: string): void {
  const { name } = complaints.config
  if (LISTS.some((list) => control[list].length > 0)) {
    complaints.add(path, `sequence batching must not specify either ${EITHER_LIST} for ${CORRID} for ${name}`)
  } else if (!CORRID_TYPES.includes(control.data_type)) {
    const original = `unexpected data type for control ${CORRID} for ${name}. Allowed data types are TYPE_UINT64, TYPE_INT64, TYPE_UINT32, TYPE_INT32 and TYPE_STRING`
    const repair = { title: 'Set TYPE_UINT64', path: `${path}.data_type`, value: 'TYPE_UINT64' }
    complaints.add(path, original, { repair })
  }
}
