import type { JsonValue } from '@conch/server/schemas'

export interface StageRow {
  readonly stage: string
  readonly count: number
  readonly meanUs: number
}
export interface BatchRow {
  readonly size: number
  readonly count: number
  readonly meanUs: number
}
export interface VersionStatistics {
  readonly version: string
  readonly inferences: number
  readonly executions: number
  /** Milliseconds since the epoch, 0 = never. */
  readonly lastInference: number
  readonly failures: number
  readonly stages: readonly StageRow[]
  readonly batches: readonly BatchRow[]
}

const STAGES = [
  ['success', 'Whole request'],
  ['queue', 'Queue'],
  ['compute_input', 'Input'],
  ['compute_infer', 'Inference'],
  ['compute_output', 'Output'],
  ['cache_hit', 'Cache hit'],
  ['cache_miss', 'Cache miss'],
  ['fail', 'Failed'],
] as const

/** Reads `GET /v2/models/<model>/stats`; what is missing or has another form counts as zero. */
export function readStatistics(value: JsonValue): VersionStatistics[] {
  const list = Array.isArray(value) ? value : member(value, 'model_stats')
  return Array.isArray(list) ? list.map(readVersion) : []
}

function readVersion(entry: JsonValue): VersionStatistics {
  const stats = member(entry, 'inference_stats')
  const batches = member(entry, 'batch_stats')
  return {
    version: readText(member(entry, 'version')),
    inferences: readNumber(member(entry, 'inference_count')),
    executions: readNumber(member(entry, 'execution_count')),
    lastInference: readNumber(member(entry, 'last_inference')),
    failures: readNumber(member(member(stats, 'fail'), 'count')),
    stages: STAGES.map(([key, stage]) => ({ stage, ...readDuration(member(stats, key)) })).filter(
      (row) => row.count > 0,
    ),
    batches: Array.isArray(batches)
      ? batches.map((row: JsonValue) => ({
          size: readNumber(member(row, 'batch_size')),
          ...readDuration(member(row, 'compute_infer')),
        }))
      : [],
  }
}

function readDuration(value: JsonValue): { count: number; meanUs: number } {
  const count = readNumber(member(value, 'count'))
  const ns = readNumber(member(value, 'ns'))
  return { count, meanUs: count === 0 ? 0 : ns / count / 1000 }
}

function member(value: JsonValue, name: string): JsonValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
  return (value as Readonly<Record<string, JsonValue>>)[name] ?? null
}

/** 64-bit counters come as decimal strings. */
function readNumber(value: JsonValue): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) || 0 : 0
}

function readText(value: JsonValue): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
