import type { Outcome, Timings } from '../request.ts'

export type LogLevel = 'verbose' | 'info' | 'warning' | 'error'

export interface Log {
  write(level: LogLevel, text: string): void
}

export interface DurationStat {
  count: number
  /** Nanoseconds. */
  ns: number
}

/** Statistics of one model version, in the original's shape and order (front door §4.7). */
export interface ModelStatistics {
  name: string
  version: string
  last_inference: number
  inference_count: number
  execution_count: number
  inference_stats: Record<
    'success' | 'fail' | 'queue' | 'compute_input' | 'compute_infer' | 'compute_output' | 'cache_hit' | 'cache_miss',
    DurationStat
  >
  response_stats: Record<string, Record<string, DurationStat>>
  batch_stats: { batch_size: number; compute_input: DurationStat; compute_infer: DurationStat; compute_output: DurationStat }[]
  memory_usage: { type: string; id: number; byte_size: number }[]
}

/** What one model version reports to. Looked up once per version, never per request. */
export interface Reporter {
  request(timings: Timings, rows: number, outcome: Outcome): void
  execution(timings: Pick<Timings, 'computeStart' | 'computeInputEnd' | 'computeOutputStart' | 'computeEnd'>, rows: number): void
  /** +1 when a request starts to wait, −1 when it leaves the queue. */
  pending(delta: 1 | -1): void
  readonly statistics: ModelStatistics
  /** The series vanish with the version. */
  close(): void
}
