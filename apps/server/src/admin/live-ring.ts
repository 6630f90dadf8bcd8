import type { LiveSample } from '@conch/engine'
import { isUnchanged, measureDelta, readCounters, summarize, type Counters } from './live-counters.ts'
import { LIVE_SECONDS, type LiveFrame, type LiveModel } from './live/live.schema.ts'

/** What the process itself uses. */
export interface ProcessUse {
  /** Microseconds of CPU since the process started. */
  readonly cpuUs: number
  readonly rssBytes: number
  readonly heapBytes: number
  readonly eventLoopP99Ms: number
}

/** One model over the last minute. */
export interface RecentUse {
  readonly rps: number
  readonly p95Us: number | null
  /** 0 … 1. */
  readonly errorRate: number
  /** Since the server started. */
  readonly requests: number
}

/** One frame a second for the last quarter of an hour. */
export interface LiveRing {
  /** Takes the frame of now; called once a second. */
  tick(): void
  /** Oldest first. */
  history(seconds: number): readonly LiveFrame[]
  /** All versions of a model together. */
  recent(model: string): RecentUse
  /** Frames from now on; returns how to stop. */
  follow(listener: (frame: LiveFrame) => void): () => void
}

export interface LiveSources {
  readonly samples: () => readonly LiveSample[]
  readonly use: () => ProcessUse
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** With more model versions than this a frame holds the active ones only. */
const ALL_SHOWN = 50

function isActive({ rps, pending, inflight }: LiveModel): boolean {
  return rps > 0 || pending > 0 || inflight > 0
}

/** Seconds that the model list looks back. */
const RECENT_SECONDS = 60

interface Snapshot {
  readonly at: number
  readonly cpuUs: number
  readonly counters: ReadonlyMap<string, Counters>
}

export function createLiveRing(sources: LiveSources): LiveRing {
  const frames: LiveFrame[] = []
  const snapshots: Snapshot[] = []
  const listeners = new Set<(frame: LiveFrame) => void>()
  return {
    tick() {
      const use = sources.use()
      const samples = sources.samples()
      const previous = snapshots.at(-1)
      const counters = new Map(samples.map((sample) => readNext(sample, previous)))
      const now = { at: sources.now(), cpuUs: use.cpuUs, counters }
      const before = previous ?? now
      snapshots.push(now)
      if (snapshots.length > RECENT_SECONDS + 1) snapshots.shift()
      const frame = makeFrame({ before, now, samples, use })
      frames.push(frame)
      if (frames.length > LIVE_SECONDS) frames.shift()
      for (const listener of listeners) listener(frame)
    },
    history(seconds) {
      const since = sources.now() - seconds * 1000
      return frames.filter((frame) => frame.at > since)
    },
    recent: (model) => measureRecent(model, snapshots),
    follow(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

function keyOf(sample: { readonly model: string; readonly version: string }): string {
  return `${sample.model}\0${sample.version}`
}

/** A model at rest keeps its record: a minute of two thousand idle ones must cost nothing. */
function readNext(sample: LiveSample, previous: Snapshot | undefined): [string, Counters] {
  const key = keyOf(sample)
  const before = previous?.counters.get(key)
  return [key, before !== undefined && isUnchanged(before, sample) ? before : readCounters(sample)]
}

interface FrameParts {
  readonly before: Snapshot
  readonly now: Snapshot
  readonly samples: readonly LiveSample[]
  readonly use: ProcessUse
}

function makeFrame({ before, now, samples, use }: FrameParts): LiveFrame {
  const elapsedMs = Math.max(now.at - before.at, 1)
  const all = samples.map((sample): LiveModel => {
    const current = now.counters.get(keyOf(sample)) ?? readCounters(sample)
    const delta = measureDelta(before.counters.get(keyOf(sample)), current)
    return {
      model: sample.model,
      version: sample.version,
      ...summarize(delta, elapsedMs / 1000),
      pending: sample.pending,
      inflight: sample.inflight,
      failures: { ...sample.failures },
    }
  })
  const models = all.length > ALL_SHOWN ? all.filter(isActive) : all
  const sum = (pick: (model: LiveModel) => number) => models.reduce((total, model) => total + pick(model), 0)
  return {
    at: now.at,
    models,
    server: {
      cpu: Math.max(0, now.cpuUs - before.cpuUs) / 1000 / elapsedMs,
      rssBytes: use.rssBytes,
      heapBytes: use.heapBytes,
      eventLoopP99Ms: use.eventLoopP99Ms,
      rps: sum((model) => model.rps),
      errors: sum((model) => model.errors),
    },
  }
}

function measureRecent(model: string, snapshots: readonly Snapshot[]): RecentUse {
  const first = snapshots[0]
  const last = snapshots.at(-1)
  if (first === undefined || last === undefined) return { rps: 0, p95Us: null, errorRate: 0, requests: 0 }
  let total: Counters | undefined
  let requests = 0
  for (const [key, counters] of last.counters) {
    if (!key.startsWith(`${model}\0`)) continue
    requests += counters.success + counters.fail
    const delta = measureDelta(first.counters.get(key), counters)
    total = total === undefined ? delta : addCounters(total, delta)
  }
  if (total === undefined) return { rps: 0, p95Us: null, errorRate: 0, requests }
  const { rps, p95Us } = summarize(total, Math.max(last.at - first.at, 1000) / 1000)
  const answered = total.success + total.fail
  return { rps, p95Us, errorRate: answered === 0 ? 0 : total.fail / answered, requests }
}

function addCounters(one: Counters, other: Counters): Counters {
  return {
    success: one.success + other.success,
    fail: one.fail + other.fail,
    queueNs: one.queueNs + other.queueNs,
    queueCount: one.queueCount + other.queueCount,
    inferences: one.inferences + other.inferences,
    executions: one.executions + other.executions,
    bounds: one.bounds,
    buckets: one.buckets.map((count, i) => count + (other.buckets[i] ?? 0)),
  }
}
