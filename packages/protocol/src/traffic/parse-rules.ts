import { describe } from './fields.ts'
import type { FieldReader, VersionReader } from './fields.ts'
import type { NamedVersion, RollbackRules, RolledBack, ShadowRules, TrafficArm, TrafficPolicy } from './policy.ts'

const MEGABYTE = 1_024 * 1_024
const MAX_ROLLED_BACK = 20

/** What a policy says beside its split. */
export function readRules(
  root: FieldReader,
  split: readonly TrafficArm[],
  name: VersionReader,
): Pick<TrafficPolicy, 'shadow' | 'rollback' | 'rolledBack'> {
  const shadow = readShadow(root, name)
  return { shadow, rollback: readRollback(root, { split, shadow }, name), rolledBack: readRolledBack(root) }
}

function readShadow(root: FieldReader, name: VersionReader): ShadowRules | undefined {
  const reader = root.open('shadow')
  if (reader === undefined) return undefined
  reader.refuseOthers(['version', 'percent', 'tolerance', 'max_inflight', 'max_bytes'])
  const version = name(reader, 'version', reader.get('version'))
  const percent = reader.number('percent', { min: 0, max: 100, fallback: 100 }) ?? 0
  const tolerance = reader.open('tolerance')
  tolerance?.refuseOthers(['absolute', 'relative'])
  const any = { min: 0, max: Number.MAX_VALUE, fallback: 0 }
  const absolute = tolerance?.number('absolute', any) ?? 0
  const relative = tolerance?.number('relative', any) ?? 0
  const maxInflight = reader.number('max_inflight', { min: 1, max: 256, fallback: 8, whole: true }) ?? 8
  const size = { min: 1, max: 64 * MEGABYTE, fallback: MEGABYTE, whole: true }
  const maxBytes = reader.number('max_bytes', size) ?? size.fallback
  return version && { ...version, percent, absolute, relative, maxInflight, maxBytes }
}

const LIMITS = ['error_percent', 'latency_ms', 'mismatch_percent']

interface Above {
  readonly split: readonly TrafficArm[]
  readonly shadow: ShadowRules | undefined
}

function readRollback(root: FieldReader, above: Above, name: VersionReader): RollbackRules | undefined {
  const reader = root.open('rollback')
  if (reader === undefined) return undefined
  reader.refuseOthers(['to', 'window_seconds', 'min_requests', 'latency_percentile', ...LIMITS])
  const percent = { min: 0, max: 100 }
  const rules = {
    windowSeconds: reader.number('window_seconds', { min: 1, max: 86_400, fallback: 60 }) ?? 60,
    minRequests: reader.number('min_requests', { min: 1, max: 1_000_000, fallback: 50, whole: true }) ?? 50,
    errorPercent: reader.number('error_percent', percent),
    latencyMs: reader.number('latency_ms', { min: 0.001, max: 86_400_000 }),
    latencyPercentile: reader.number('latency_percentile', { min: 1, max: 99.99, fallback: 95 }) ?? 95,
    mismatchPercent: reader.number('mismatch_percent', percent),
  }
  if (!LIMITS.some((limit) => reader.has(limit))) {
    reader.note('', 'has no limit', `give it at least one of: ${LIMITS.join(', ')}`)
  }
  if (reader.has('mismatch_percent') && !root.has('shadow')) {
    reader.note('mismatch_percent', 'has nothing to compare', 'add a shadow, or remove it')
  }
  const to = readTarget(reader, above, name)
  return to && { to, ...rules }
}

/** Where requests go when their version is taken off: the version with the largest share unless one is named. */
function readTarget(reader: FieldReader, { split, shadow }: Above, name: VersionReader): NamedVersion | undefined {
  if (reader.has('to')) {
    const to = name(reader, 'to', reader.get('to'))
    if (to !== undefined && to.version === shadow?.version) {
      reader.note('to', 'is the version that is being compared', 'name the version that is known to be good')
    }
    return to
  }
  const best = split.reduce<TrafficArm | undefined>(
    (a, b) => (a !== undefined && a.weight >= b.weight ? a : b),
    undefined,
  )
  if (best !== undefined) return { name: best.name, version: best.version }
  if (split.length === 0 && shadow !== undefined) return { name: '', version: '' }
  reader.note('', 'does not say where requests go then', 'add "to" with the version that is known to be good')
  return undefined
}

function readRolledBack(root: FieldReader): readonly RolledBack[] {
  const list = root.get('rolled_back')
  if (list === undefined) return []
  const rows: readonly unknown[] = Array.isArray(list) ? list : []
  const done = rows.flatMap((row) => (isRolledBack(row) ? [row] : []))
  if (!Array.isArray(list) || done.length < rows.length || rows.length > MAX_ROLLED_BACK) {
    root.note('rolled_back', `is ${describe(list)} that the server did not write`, 'remove it')
    return []
  }
  return done.map(({ version, reason, at }) => ({ version, reason, at }))
}

function isRolledBack(value: unknown): value is RolledBack {
  if (typeof value !== 'object' || value === null) return false
  const { version, reason, at } = value as Partial<Record<string, unknown>>
  return typeof version === 'string' && typeof reason === 'string' && typeof at === 'string'
}
