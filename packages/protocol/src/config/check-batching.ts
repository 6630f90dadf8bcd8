import type { Complaints } from './complaints.ts'
import { keyStep } from './pbtxt/tree.ts'
import type { ModelDynamicBatching, ModelQueuePolicy } from './schema.ts'

export function checkDynamicBatching(complaints: Complaints): void {
  const { dynamic_batching: batching } = complaints.config
  if (batching === undefined) return
  const path = 'dynamic_batching.preferred_batch_size'
  checkPreferred(complaints, { sizes: batching.preferred_batch_size, path, kind: 'dynamic batching preferred size' })
  if (batching.priority_levels === 0n) return
  checkPriorities(complaints, batching)
  if (batching.preserve_ordering) checkOrdering(complaints, batching)
}

interface Preferred {
  readonly sizes: readonly number[]
  readonly path: string
  /** How the original calls them. */
  readonly kind: string
}

export function checkPreferred(complaints: Complaints, preferred: Preferred): void {
  const { name, max_batch_size: most } = complaints.config
  // Auto-complete may still write the largest batch: the sizes are held against it then (field case C07).
  const isOpen = most === 0 && !complaints.options.strictIo
  const rest = preferred.sizes.filter((size) => size > 0 && size <= most)
  const repair = {
    title: 'Keep only possible sizes',
    path: preferred.path,
    value: rest.length === 0 ? undefined : rest,
  }
  for (const [index, size] of preferred.sizes.entries()) {
    const path = `${preferred.path}[${String(index)}]`
    if (size <= 0)
      complaints.add(path, `${preferred.kind} must be positive for ${name}`, { hint: `it is ${String(size)}`, repair })
    else if (size > most && !isOpen) {
      const hint = `preferred ${String(size)}, max_batch_size ${String(most)}`
      complaints.add(path, `${preferred.kind} must be <= max batch size for ${name}`, { hint, repair })
    }
  }
}

function checkPriorities(complaints: Complaints, batching: ModelDynamicBatching): void {
  const { name } = complaints.config
  const levels = batching.priority_levels
  const isLevel = (level: bigint): boolean => level >= 1n && level <= levels
  const range = `must be in range [1, ${String(levels)}] for ${name}`
  if (!isLevel(batching.default_priority_level)) {
    const path = 'dynamic_batching.default_priority_level'
    const hint = `it is ${String(batching.default_priority_level)}`
    complaints.add(path, `default priority level ${range}`, { hint, repair: { title: 'Set it to 1', path, value: 1n } })
  }
  for (const level of Object.keys(batching.priority_queue_policy)) {
    if (isLevel(BigInt(level))) continue
    const path = `dynamic_batching.${keyStep('priority_queue_policy', level)}`
    const original = `priority queue policy must have priority level in range [1, ${String(levels)}] for ${name}`
    complaints.add(path, original, { hint: `it is ${level}` })
  }
}

function checkOrdering(complaints: Complaints, batching: ModelDynamicBatching): void {
  const { name } = complaints.config
  if (batching.priority_levels > 1n) {
    const original = `Only one priority level is allowed when 'preserve_ordering' is true for ${name}`
    complaints.add('dynamic_batching.priority_levels', original, {
      hint: `there are ${String(batching.priority_levels)}`,
    })
  }
  const delays = `Queue policy can not have DELAY as timeout action when 'preserve_ordering' is true for ${name}`
  if (isDelaying(batching.default_queue_policy)) complaints.add('dynamic_batching.default_queue_policy', delays)
  for (const [level, policy] of Object.entries(batching.priority_queue_policy)) {
    if (isDelaying(policy)) complaints.add(`dynamic_batching.${keyStep('priority_queue_policy', level)}`, delays)
  }
}

function isDelaying(policy: ModelQueuePolicy | undefined): boolean {
  return policy?.timeout_action === 'DELAY' && policy.default_timeout_microseconds !== 0n
}
