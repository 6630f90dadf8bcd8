import type { Complaints } from './complaints.ts'
import { keyStep } from './pbtxt/tree.ts'
import type { EnsembleStep } from './schema.ts'

/** What an ensemble's own config must obey; what concerns the composing models is known only at load. */
export function checkEnsemble(complaints: Complaints): void {
  const { name, platform, ensemble_scheduling: scheduling } = complaints.config
  if (scheduling === undefined) {
    if (platform !== 'ensemble') return
    complaints.add('platform', `ensemble scheduling must be set for ensemble ${name} whose platform is ensemble`)
    return
  }
  if (platform !== 'ensemble') {
    const original = `ensemble scheduling cannot be set for model '${name}' whose platform is not ensemble`
    const repair = { title: 'Set platform: "ensemble"', path: 'platform', value: 'ensemble' }
    complaints.add('ensemble_scheduling', original, { repair })
  }
  checkForbidden(complaints)
  if (scheduling.step.length === 0) complaints.add('ensemble_scheduling', `must specify 'step' for ensemble '${name}'`)
  const before = complaints.problems.length
  for (const [index, step] of scheduling.step.entries()) checkStep(complaints, step, index)
  checkWrittenOnce(complaints, scheduling.step)
  if (complaints.problems.length === before && scheduling.step.length > 0) checkFlow(complaints, scheduling.step)
}

function checkForbidden(complaints: Complaints): void {
  const { name, instance_group: groups, optimization, model_warmup: warmup } = complaints.config
  const remove = (path: string): { title: string; path: string; value: undefined } => ({
    title: `Remove ${path}`,
    path,
    value: undefined,
  })
  if (groups.length > 0) {
    const original = `instance group should not be specified for ensemble '${name}'`
    complaints.add('instance_group', original, { repair: remove('instance_group') })
  }
  if (optimization !== undefined) {
    const original = `optimization should not be specified for ensemble '${name}'`
    complaints.add('optimization', original, { repair: remove('optimization') })
  }
  if (warmup.length > 0) {
    const original = `model_warmup can not be specified for ensemble '${name}'`
    complaints.add('model_warmup', original, { repair: remove('model_warmup') })
  }
}

function checkStep(complaints: Complaints, step: EnsembleStep, index: number): void {
  const { name } = complaints.config
  const path = `ensemble_scheduling.step[${String(index)}]`
  const where = `in step ${String(index)} of ensemble '${name}'`
  if (step.model_name === '') complaints.add(path, `must specify 'model_name' ${where}`)
  if (Object.keys(step.input_map).length === 0) complaints.add(path, `must specify 'input_map' ${where}`)
  if (Object.keys(step.output_map).length === 0) complaints.add(path, `must specify 'output_map' ${where}`)
}

function checkWrittenOnce(complaints: Complaints, steps: readonly EnsembleStep[]): void {
  const { name, input } = complaints.config
  const writers = new Map<string, string>(input.map((tensor) => [tensor.name, 'the request']))
  for (const [index, step] of steps.entries()) {
    for (const [output, tensor] of Object.entries(step.output_map)) {
      const writer = writers.get(tensor)
      writers.set(tensor, `step ${String(index)}`)
      if (writer === undefined) continue
      const path = `ensemble_scheduling.step[${String(index)}].${keyStep('output_map', output)}`
      const original = `ensemble tensor '${tensor}' can appear in an output map only once for ensemble '${name}' step ${String(index)}`
      complaints.add(path, original, { hint: `it already comes from ${writer}` })
    }
  }
}

interface Flow {
  /** Tensor → step that writes it. */
  readonly writers: ReadonlyMap<string, number>
  readonly readers: ReadonlySet<string>
  /** Tensors that get a value when the request has all inputs. */
  readonly ready: ReadonlySet<string>
}

function checkFlow(complaints: Complaints, steps: readonly EnsembleStep[]): void {
  const { name, input, output } = complaints.config
  const flow = followFlow(
    steps,
    input.map((tensor) => tensor.name),
  )
  for (const [index, tensor] of input.entries()) {
    if (flow.readers.has(tensor.name)) continue
    complaints.add(`input[${String(index)}]`, `ensemble input '${tensor.name}' for ensemble ${name}' is not used`)
  }
  const known = new Set([...flow.writers.keys(), ...flow.readers])
  for (const [index, tensor] of output.entries()) {
    if (!known.has(tensor.name)) {
      complaints.add(`output[${String(index)}]`, `ensemble output '${tensor.name}' for ensemble ${name}' is not used`)
    }
  }
  for (const [index, tensor] of output.entries()) {
    if (!known.has(tensor.name) || flow.ready.has(tensor.name) || complaints.isFull) continue
    complaints.add(
      `output[${String(index)}]`,
      `output '${tensor.name}' for ensemble '${name}' is not written${explain(flow, steps, tensor.name)}`,
    )
  }
  checkUnused(complaints, steps, flow)
}

function explain(flow: Flow, steps: readonly EnsembleStep[], tensor: string): string {
  const step = steps[flow.writers.get(tensor) ?? -1]
  const missing = step === undefined ? undefined : Object.values(step.input_map).find((one) => !flow.ready.has(one))
  return missing === undefined ? '' : `: at least one of its depending tensors, '${missing}', is not connected`
}

function checkUnused(complaints: Complaints, steps: readonly EnsembleStep[], flow: Flow): void {
  const { name, output } = complaints.config
  const wanted = new Set([...flow.readers, ...output.map((tensor) => tensor.name)])
  for (const [index, step] of steps.entries()) {
    for (const [key, tensor] of Object.entries(step.output_map)) {
      if (wanted.has(tensor)) continue
      const path = `ensemble_scheduling.step[${String(index)}].${keyStep('output_map', key)}`
      const repair = { title: 'Remove this entry', path, value: undefined }
      complaints.add(path, `ensemble tensor '${tensor}' is unused in ensemble '${name}'`, { repair })
    }
  }
}

function followFlow(steps: readonly EnsembleStep[], inputs: readonly string[]): Flow {
  const writers = new Map<string, number>()
  const readersOf = new Map<string, number[]>()
  for (const [index, step] of steps.entries()) {
    for (const tensor of Object.values(step.output_map)) writers.set(tensor, index)
    for (const tensor of new Set(Object.values(step.input_map))) {
      const readers = readersOf.get(tensor) ?? []
      readers.push(index)
      readersOf.set(tensor, readers)
    }
  }
  return { writers, readers: new Set(readersOf.keys()), ready: spread(steps, inputs, readersOf) }
}

/** Linear in the size of the graph: a step waits for a count of tensors, each tensor wakes its readers once. */
function spread(
  steps: readonly EnsembleStep[],
  inputs: readonly string[],
  readersOf: ReadonlyMap<string, readonly number[]>,
): Set<string> {
  const waiting = steps.map((step) => new Set(Object.values(step.input_map)).size)
  const ready = new Set(inputs)
  const wake = (reader: number): void => {
    const left = (waiting[reader] ?? 0) - 1
    waiting[reader] = left
    if (left === 0) for (const output of Object.values(steps[reader]?.output_map ?? {})) ready.add(output)
  }
  // A set grows while it is walked: every tensor is visited once.
  for (const tensor of ready) readersOf.get(tensor)?.forEach(wake)
  return ready
}
