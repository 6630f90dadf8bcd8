import type { Family, Sample } from './exposition.ts'
import { COARSE_BOUNDS, cumulate } from './histogram.ts'
import type { Histogram } from './histogram.ts'
import type { MachineLoad } from './machine.ts'
import { REASONS } from './series.ts'
import type { FailureSeries, Labels, Series, SeriesHistogram, SeriesNumber, Totals } from './series.ts'

/** A series and its sums, taken once per scrape. */
export interface Reading {
  readonly series: Series
  readonly totals: Totals
}

const NOT_CACHED = '(does not include cached requests)'
const COUNTS: readonly (readonly [string, string, SeriesNumber])[] = [
  ['nv_inference_request_success', 'Number of successful inference requests, all batch sizes', 'successes'],
  ['nv_inference_count', `Number of inferences performed ${NOT_CACHED}`, 'inferences'],
  ['nv_inference_exec_count', `Number of model executions performed ${NOT_CACHED}`, 'executions'],
]
const DURATIONS: readonly (readonly [string, string, SeriesNumber])[] = [
  ['request', 'Cumulative inference request duration in microseconds (includes cached requests)', 'successNs'],
  ['queue', 'Cumulative inference queuing duration in microseconds (includes cached requests)', 'queueNs'],
  ['compute_input', `Cumulative compute input duration in microseconds ${NOT_CACHED}`, 'inputNs'],
  ['compute_infer', `Cumulative compute inference duration in microseconds ${NOT_CACHED}`, 'inferNs'],
  ['compute_output', `Cumulative inference compute output duration in microseconds ${NOT_CACHED}`, 'outputNs'],
]
/** Superset: what the original shows as sums only. */
const LATENCIES: readonly (readonly [string, string, SeriesHistogram])[] = [
  ['request', 'End-to-end duration of successful inference requests in seconds', 'total'],
  ['queue', 'Time successful inference requests waited for an instance in seconds', 'queue'],
  ['compute_input', 'Time to gather inputs per successful inference request in seconds', 'input'],
  ['compute_infer', 'Time in the model per successful inference request in seconds', 'infer'],
  ['compute_output', 'Time to hand out outputs per successful inference request in seconds', 'output'],
]

/** The counters of requests, in the original's order. */
export function countFamilies(
  readings: readonly Reading[],
  failures: readonly FailureSeries[],
  durations: boolean,
): readonly Family[] {
  const [success, ...counts] = COUNTS.map(([name, help, key]) => {
    return counter(
      name,
      help,
      readings.map(({ series, totals }) => plain(series.labels, totals.numbers[key])),
    )
  })
  const failed = failures.flatMap((series) => {
    const found = series.read()
    return REASONS.map((reason) => plain({ ...series.labels, reason }, found[reason]))
  })
  const families = success === undefined ? [] : [success]
  families.push(
    counter('nv_inference_request_failure', 'Number of failed inference requests, all batch sizes', failed),
    ...counts,
  )
  if (!durations) return families
  const sums = DURATIONS.map(([part, help, key]) => {
    const samples = readings.map(({ series, totals }) => plain(series.labels, Math.floor(totals.numbers[key] / 1_000)))
    return counter(`nv_inference_${part}_duration_us`, help, samples)
  })
  return [...families, ...sums]
}

export function gaugeFamilies(readings: readonly Reading[]): readonly Family[] {
  const pending = 'Instantaneous number of pending requests awaiting execution per-model.'
  return [
    gauge(
      'nv_inference_pending_request_count',
      pending,
      readings.map(({ series }) => plain(series.labels, series.waiting)),
    ),
    gauge(
      'nv_model_load_duration_secs',
      'Model load time in seconds',
      readings.map(({ series }) => plain(series.labels, series.loadSeconds)),
    ),
  ]
}

const one = (name: string, help: string, value: number) => gauge(name, help, [plain({}, value)])

/** Nothing here pins memory: the pool's sizes are those of the CPU-only original. */
export function pinnedFamilies(): readonly Family[] {
  return [
    one('nv_pinned_memory_pool_total_bytes', 'Pinned memory pool total memory size, in bytes', 0),
    one('nv_pinned_memory_pool_used_bytes', 'Pinned memory pool used memory size, in bytes', 0),
  ]
}

/** `cpu` undefined = CPU metrics are off. */
export function machineFamilies(cpu: MachineLoad | undefined): readonly Family[] {
  if (cpu === undefined) return []
  return [
    one('nv_cpu_utilization', 'CPU utilization rate [0.0 - 1.0]', cpu.cpu),
    one('nv_cpu_memory_total_bytes', 'CPU total memory (RAM), in bytes', cpu.memoryTotal),
    one('nv_cpu_memory_used_bytes', 'CPU used memory (RAM), in bytes', cpu.memoryUsed),
  ]
}

export function histogramFamilies(readings: readonly Reading[]): readonly Family[] {
  const first: Sample[] = readings.flatMap(({ series }) => {
    const { firstResponse, labels } = series
    return firstResponse === undefined ? [] : buckets(labels, firstResponse, { bounds: firstResponse.bounds, scale: 1 })
  })
  const help = 'Duration from request to first response in milliseconds'
  const families: Family[] = [
    { name: 'nv_inference_first_response_histogram_ms', help, kind: 'histogram', samples: first },
  ]
  for (const [part, text, key] of LATENCIES) {
    const samples = readings.flatMap(({ series, totals }) => {
      const histogram = totals.histograms.get(key)
      return histogram === undefined ? [] : buckets(series.labels, histogram, { bounds: COARSE_BOUNDS, scale: 1e-6 })
    })
    families.push({ name: `conch_inference_${part}_duration_seconds`, help: text, kind: 'histogram', samples })
  }
  return families
}

function buckets(
  labels: Labels,
  histogram: Histogram,
  show: { readonly bounds: readonly number[]; readonly scale: number },
): readonly Sample[] {
  const counts = cumulate(histogram, show.bounds)
  const total = counts.at(-1) ?? 0
  return [
    { suffix: '_count', labels, value: total },
    { suffix: '_sum', labels, value: histogram.sum * show.scale },
    ...counts.map((value, index) => {
      const bound = show.bounds[index]
      const le = bound === undefined ? '+Inf' : String(Number((bound * show.scale).toPrecision(12)))
      return { suffix: '_bucket', labels: { ...labels, le }, value }
    }),
  ]
}

function plain(labels: Labels, value: number): Sample {
  return { suffix: '', labels, value }
}

function counter(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, help, kind: 'counter', samples }
}

function gauge(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, help, kind: 'gauge', samples }
}
