import type { CacheUse, Outcome, Timings } from '../request.ts'

export type LogLevel = 'verbose' | 'info' | 'warning' | 'error'

export interface Log {
  /** `about`: whose line it is, when a model said it or it is about one. */
  write(level: LogLevel, text: string, about?: LogSubject): void
}
export interface LogSubject {
  readonly model: string
  readonly version: string
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
  batch_stats: {
    batch_size: number
    compute_input: DurationStat
    compute_infer: DurationStat
    compute_output: DurationStat
  }[]
  memory_usage: { type: string; id: number; byte_size: number }[]
}

export type FailureReason = 'REJECTED' | 'CANCELED' | 'BACKEND' | 'OTHER'
export type FailureCounts = Record<FailureReason, number>

/** What a process has used of the machine. */
export interface ProcessUsage {
  /** Since it started, its ended children included. */
  readonly cpuSeconds: number
  /** In memory now. */
  readonly residentBytes: number
}

/** Counts per bucket, not cumulative; `counts` has one entry more than `bounds`: everything above the last bound. */
export interface LatencyCounts {
  /** Upper bounds, microseconds, ascending. */
  readonly bounds: readonly number[]
  readonly counts: readonly number[]
}

/** A request that ended, as far as it is counted. */
export interface EndedRequest {
  readonly timings: Timings
  readonly rows: number
  /** Stamp of the first response; 0 = there was none. */
  readonly firstResponse: number
  /** Undefined when the response cache had no part in it. */
  readonly cache?: CacheUse | undefined
  readonly request?: { readonly id: string }
  /** Given when a request that was made for it is written down; 0 = none was. */
  readonly serial?: number
  /** The request that it was made for. */
  readonly outer?: { serial: number } | undefined
}

/** Where the time of one request went. Durations are microseconds, 0 for what it did not come to. */
export interface RequestStages {
  /** As its client named it; '' = not at all. */
  readonly id: string
  readonly model: string
  readonly version: string
  readonly outcome: Outcome
  readonly rows: number
  /** When it came, milliseconds since the epoch. */
  readonly at: number
  readonly total: number
  readonly queue: number
  readonly input: number
  readonly infer: number
  readonly output: number
  /** Undefined when the response cache had no part in it. */
  readonly cache: { readonly hit: boolean; readonly us: number } | undefined
  /** Requests that were made for it: steps of an ensemble, calls of a model; as far as they are still known. */
  readonly steps: readonly RequestStages[]
}

/** Why requests were slow: the stages of the newest 1,000, and of each model's ten slowest of the last ten minutes. */
export interface RequestHistory {
  /** The newest request of that id. */
  find(id: string): RequestStages | undefined
  /** Newest first: clients' own requests, or all those to one model. */
  recent(limit: number, model?: string): readonly RequestStages[]
  /** Slowest first. */
  slowest(model: string): readonly RequestStages[]
}

/** What one model version reports to. Looked up once per version, never per request. */
export interface Reporter {
  request(ended: EndedRequest, outcome: Outcome): void
  execution(
    timings: Pick<Timings, 'computeStart' | 'computeInputEnd' | 'computeOutputStart' | 'computeEnd'>,
    rows: number,
  ): void
  /** +1 when a request starts to wait, −1 when it leaves the queue. */
  pending(delta: 1 | -1): void
  /** How long the version took to load. */
  loaded(seconds: number): void
  readonly statistics: ModelStatistics
  readonly failures: Readonly<FailureCounts>
  readonly waiting: number
  /** End-to-end latency since the version was loaded. */
  latency(): LatencyCounts
  /** The series vanish with the version. */
  close(): void
}
