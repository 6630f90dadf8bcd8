import type { LiveSample } from '@conch/engine'

/** The growing numbers of one model version, copied: the engine keeps counting in its own. */
export interface Counters {
  readonly success: number
  readonly fail: number
  readonly queueNs: number
  readonly queueCount: number
  readonly inferences: number
  readonly executions: number
  /** Upper bounds in µs and answers per bucket; the last bucket is above all bounds. */
  readonly bounds: readonly number[]
  readonly buckets: readonly number[]
}

export function readCounters({ statistics, latency }: LiveSample): Counters {
  const { success, fail, queue } = statistics.inference_stats
  return {
    success: success.count,
    fail: fail.count,
    queueNs: queue.ns,
    queueCount: queue.count,
    inferences: statistics.inference_count,
    executions: statistics.execution_count,
    bounds: latency.bounds,
    buckets: latency.counts.slice(),
  }
}

export function isUnchanged(before: Counters, { statistics }: LiveSample): boolean {
  const { success, fail } = statistics.inference_stats
  return (
    before.success === success.count && before.fail === fail.count && before.executions === statistics.execution_count
  )
}

/** What happened in between. A version that was loaded anew counts from zero: then all it has is new. */
export function measureDelta(before: Counters | undefined, now: Counters): Counters {
  const restarted = before === undefined || now.success < before.success || now.executions < before.executions
  const from: Counters | undefined = restarted ? undefined : before
  const minus = (pick: (counters: Counters) => number) => Math.max(0, pick(now) - (from === undefined ? 0 : pick(from)))
  return {
    success: minus((counters) => counters.success),
    fail: minus((counters) => counters.fail),
    queueNs: minus((counters) => counters.queueNs),
    queueCount: minus((counters) => counters.queueCount),
    inferences: minus((counters) => counters.inferences),
    executions: minus((counters) => counters.executions),
    bounds: now.bounds,
    buckets: now.buckets.map((count, i) => Math.max(0, count - (from?.buckets[i] ?? 0))),
  }
}

export function summarize(delta: Counters, seconds: number) {
  const { success, fail, queueNs, queueCount, inferences, executions } = delta
  return {
    rps: (success + fail) / seconds,
    p50Us: findPercentile(delta, 0.5),
    p95Us: findPercentile(delta, 0.95),
    p99Us: findPercentile(delta, 0.99),
    queueUs: queueCount === 0 ? null : queueNs / queueCount / 1000,
    batch: executions === 0 ? null : inferences / executions,
    errors: fail / seconds,
  }
}

/** Linear inside a bucket, as Prometheus does; the open last bucket answers its lower bound. */
export function findPercentile(
  { bounds, buckets }: Pick<Counters, 'bounds' | 'buckets'>,
  share: number,
): number | null {
  const total = buckets.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let left = share * total
  for (const [i, count] of buckets.entries()) {
    const low = bounds[i - 1] ?? 0
    const high = bounds[i]
    if (high === undefined) return low
    if (count > 0 && left <= count) return low + ((high - low) * left) / count
    left -= count
  }
  return bounds.at(-1) ?? null
}
