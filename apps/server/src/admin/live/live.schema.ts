import { z } from 'zod'

/** Seconds that the server remembers. */
export const LIVE_SECONDS = 900
export const liveHistorySchema = z.strictObject({ seconds: z.int().min(1).max(LIVE_SECONDS) })

export interface LiveModel {
  readonly model: string
  readonly version: string
  /** Answered requests a second, successful or not. */
  readonly rps: number
  /** Null when nothing was answered in that second. */
  readonly p50Us: number | null
  readonly p95Us: number | null
  readonly p99Us: number | null
  /** Mean time in the queue, null when nothing ran. */
  readonly queueUs: number | null
  /** Mean rows of a batch, null when nothing ran. */
  readonly batch: number | null
  readonly pending: number
  readonly inflight: number
  /** Failed requests a second. */
  readonly errors: number
  /** Cumulative, by reason. */
  readonly failures: {
    readonly REJECTED: number
    readonly CANCELED: number
    readonly BACKEND: number
    readonly OTHER: number
  }
}

export interface LiveFrame {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** All loaded versions; with more than 50 of them only those that do something, the others being at rest. */
  readonly models: readonly LiveModel[]
  readonly server: {
    /** Cores in use: 1.5 = one and a half. */
    readonly cpu: number
    readonly rssBytes: number
    readonly heapBytes: number
    readonly eventLoopP99Ms: number
    readonly rps: number
    readonly errors: number
  }
}
