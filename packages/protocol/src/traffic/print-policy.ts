import type { TrafficPolicy } from './policy.ts'

/** The text of the file that `parseTrafficText` reads back as this policy. */
export function printTrafficPolicy({ labels, split, sticky, shadow, rollback, rolledBack }: TrafficPolicy): string {
  const value = {
    ...(Object.keys(labels).length > 0 ? { labels } : {}),
    ...(split.length > 0 ? { split: Object.fromEntries(split.map(({ name, weight }) => [name, weight])) } : {}),
    ...(sticky === undefined ? {} : { sticky: { [sticky.from]: sticky.name } }),
    ...(shadow === undefined ? {} : { shadow: printShadow(shadow) }),
    ...(rollback === undefined ? {} : { rollback: printRollback(rollback) }),
    ...(rolledBack.length > 0 ? { rolled_back: rolledBack } : {}),
  }
  return `${JSON.stringify(value, null, 2)}\n`
}

function printShadow({
  name,
  percent,
  absolute,
  relative,
  maxInflight,
  maxBytes,
}: NonNullable<TrafficPolicy['shadow']>) {
  return {
    version: name,
    percent,
    tolerance: { absolute, relative },
    max_inflight: maxInflight,
    max_bytes: maxBytes,
  }
}

function printRollback(rules: NonNullable<TrafficPolicy['rollback']>) {
  const { to, windowSeconds, minRequests, errorPercent, latencyMs, latencyPercentile, mismatchPercent } = rules
  return {
    ...(to.name === '' ? {} : { to: to.name }),
    window_seconds: windowSeconds,
    min_requests: minRequests,
    // JSON leaves out what is undefined.
    error_percent: errorPercent,
    latency_ms: latencyMs,
    latency_percentile: latencyMs === undefined ? undefined : latencyPercentile,
    mismatch_percent: mismatchPercent,
  }
}
