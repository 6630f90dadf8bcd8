import { ConchError } from '@conch/protocol'
import type { ModelConfig } from '@conch/protocol'
import { Summary } from 'prom-client'
import type { CustomFamily, CustomKind } from '../backend/contract.ts'
import type { CacheNumbers } from '../cache/contract.ts'
import { cacheFamilies, storeFamilies } from './cache-families.ts'
import type { LogLevel, Reporter } from './contract.ts'
import { CustomMetrics } from './custom-metrics.ts'
import { printFamilies } from './exposition.ts'
import type { Family, MetricKind, Sample } from './exposition.ts'
import { countFamilies, gaugeFamilies, histogramFamilies, machineFamilies, pinnedFamilies } from './families.ts'
import type { Reading } from './families.ts'
import { gpuFamilies, GpuWatch } from './gpus.ts'
import type { GpuWatchParts } from './gpus.ts'
import { Histogram } from './histogram.ts'
import { MachineWatch } from './machine.ts'
import { readProcessFamilies } from './process-usage.ts'
import type { InstanceProcess } from './process-usage.ts'
import { Recorder } from './recorder.ts'
import type { Observer } from './recorder.ts'
import { FailureSeries, Series } from './series.ts'
import { StageRing } from './stage-ring.ts'
import type { Labels } from './series.ts'
import { trafficFamilies } from './traffic-families.ts'
import type { TrafficView } from '../traffic/contract.ts'

const FIRST_RESPONSE = 'nv_inference_first_response_histogram_ms'
const FIRST_RESPONSE_MS = [100, 500, 2000, 5000]
const QUANTILES = [0.5, 0.9, 0.95, 0.99, 0.999]
const SUMMARIES: readonly (readonly [string, string])[] = [
  [
    'nv_inference_request_summary_us',
    'Summary of inference request duration in microseconds (includes cached requests)',
  ],
  ['nv_inference_queue_summary_us', 'Summary of inference queuing duration in microseconds (includes cached requests)'],
  [
    'nv_inference_compute_input_summary_us',
    'Cumulative compute input duration in microseconds (does not include cached requests)',
  ],
  [
    'nv_inference_compute_infer_summary_us',
    'Cumulative compute inference duration in microseconds (does not include cached requests)',
  ],
  [
    'nv_inference_compute_output_summary_us',
    'Cumulative inference compute output duration in microseconds (does not include cached requests)',
  ],
  ['nv_cache_hit_summary_per_model', 'Summary of cache hit counts/durations per model, in microseconds.'],
  ['nv_cache_miss_summary_per_model', 'Summary of cache miss counts/durations per model, in microseconds.'],
]
/** Absent for models that the response cache serves (metrics §3). */
const REQUEST_SUMMARY = 'nv_inference_request_summary_us'

export interface MetricsOptions {
  readonly enabled: boolean
  readonly cpu: boolean
  readonly gpu?: boolean
  readonly intervalMs: number
  /** `--metrics-config` settings. */
  readonly config: Readonly<Record<string, string>>
  readonly namespacing?: boolean
  /** The processes of instances that have one. */
  readonly processes?: () => readonly InstanceProcess[]
  readonly log?: (level: LogLevel, text: string) => void
  /** Another source of GPUs than the driver, for tests. */
  readonly openGpus?: GpuWatchParts['open']
}

/** Whose numbers: one version of a model. */
export interface Reported {
  readonly model: string
  readonly version: string
  readonly namespace?: string
  /** Served through the response cache. */
  readonly cached?: boolean
  readonly config: Pick<ModelConfig, 'metric_tags' | 'model_metrics' | 'response_cache'>
}

/** One family of our own, in the shape that a prom-client registry asks for its values. */
interface Collected {
  readonly name: string
  readonly help: string
  readonly type: MetricKind
  readonly values: { metricName?: string; labels: Record<string, string | number>; value: number }[]
}

/**
 * Every number that Prometheus sees. Versions write plain fields (recorder.ts); a scrape sums them up and adds what models
 * made themselves.
 */
export class Metrics {
  readonly #options: MetricsOptions
  readonly #series = new Map<string, Series>()
  readonly #failures = new Map<string, FailureSeries>()
  readonly #machine: MachineWatch | undefined
  readonly #gpus: GpuWatch | undefined
  readonly #quantiles: readonly number[]
  readonly #log: (level: LogLevel, text: string) => void
  /** What a response cache in memory counts; undefined when there is none. */
  cacheNumbers: () => CacheNumbers | undefined = () => undefined
  /** Policies that spread requests over versions. */
  traffic: () => readonly TrafficView[] = () => []
  readonly stages = new StageRing()
  readonly #custom = new CustomMetrics()

  constructor(options: MetricsOptions) {
    this.#options = options
    const { intervalMs, log = () => undefined } = options
    this.#log = log
    this.#quantiles = parseQuantiles(options.config['summary_quantiles'], (pair) => {
      log('error', `--metrics-config summary_quantiles: '${pair}' is not <quantile>:<error> and is ignored`)
    })
    this.#machine = options.enabled && options.cpu ? new MachineWatch(intervalMs) : undefined
    this.#gpus =
      options.enabled && options.gpu === true ? new GpuWatch({ intervalMs, log, open: options.openGpus }) : undefined
  }

  createReporter(reported: Reported): Reporter {
    const { model, version } = reported
    const labels = labelsOf(reported, this.#options.namespacing === true)
    const key = JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    const series = this.#series.get(key) ?? this.#createSeries(labels, reported)
    for (const family of listUnknown(reported.config)) {
      this.#log('warning', `model '${model}' configures the metric family '${family}', which has no settings; ignored`)
    }
    const failures = this.#failures.get(key) ?? new FailureSeries(labels)
    const { observer, firstResponse } = series
    const recorder = new Recorder({
      model,
      version,
      observer,
      firstResponse,
      stages: this.stages,
      onClose: (closed) => {
        failures.end(closed)
        series.end(closed)
        if (series.recorders.size === 0) this.#series.delete(key)
      },
    })
    series.recorders.add(recorder)
    failures.recorders.add(recorder)
    this.#series.set(key, series)
    this.#failures.set(key, failures)
    return recorder
  }

  /** Prometheus text 0.0.4. */
  async text(): Promise<string> {
    if (!this.#options.enabled) return ''
    return printFamilies([...(await this.#collect()), ...this.#custom.families()])
  }

  /** A family of a model's own. */
  createFamily(kind: CustomKind, name: string, description: string): CustomFamily {
    if (!this.#options.enabled) throw new ConchError('UNSUPPORTED', 'metrics not supported')
    return this.#custom.createFamily(kind, name, description)
  }

  close(): void {
    this.#machine?.close()
    this.#gpus?.close()
  }

  async #collect(): Promise<readonly Family[]> {
    const durations = this.#options.config['counter_latencies'] !== 'false'
    const readings: Reading[] = [...this.#series.values()].map((series) => ({ series, totals: series.read() }))
    return [
      ...countFamilies(readings, [...this.#failures.values()], durations),
      ...(durations ? cacheFamilies(readings) : []),
      ...gaugeFamilies(readings),
      ...pinnedFamilies(),
      ...gpuFamilies(this.#gpus?.loads ?? []),
      ...machineFamilies(this.#machine?.load),
      ...storeFamilies(this.cacheNumbers()),
      ...trafficFamilies(this.traffic()),
      ...(await readProcessFamilies(this.#options.processes?.() ?? [])),
      ...histogramFamilies(readings),
      ...(await this.#summaryFamilies()),
    ]
  }

  #createSeries(labels: Labels, { config, cached = false }: Reported): Series {
    const { config: settings } = this.#options
    const summaries =
      settings['summary_latencies'] === 'true'
        ? SUMMARIES.map((row) => (isShown(row[0], cached) ? this.#createSummary(row) : undefined))
        : undefined
    const firstResponse = settings['histogram_latencies'] === 'true' ? new Histogram(bucketsOf(config)) : undefined
    return new Series(labels, { observer: summaries && observeAll(summaries), firstResponse, cached })
  }

  /** One per series and not in a registry: label names differ from model to model. */
  #createSummary([name, help]: readonly [string, string]): Summary {
    return new Summary({
      name,
      help,
      percentiles: [...this.#quantiles],
      maxAgeSeconds: 60,
      ageBuckets: 5,
      registers: [],
    })
  }

  async #summaryFamilies(): Promise<readonly Family[]> {
    const families: Family[] = []
    for (const [index, [name, help]] of SUMMARIES.entries()) {
      const samples: Sample[] = []
      for (const { labels, observer } of this.#series.values()) {
        const summary = observer?.summaries[index]
        if (summary instanceof Summary)
          samples.push(...orderSummary((await summary.get()) as unknown as Collected, labels))
      }
      families.push({ name, help, kind: 'summary', samples })
    }
    return families
  }
}

function labelsOf({ model, version, namespace, config }: Reported, namespacing: boolean): Labels {
  const labels: Record<string, string> = { model, version }
  if (namespacing && namespace !== undefined) labels['namespace'] = namespace
  for (const [tag, value] of Object.entries(config.metric_tags)) labels[`_${tag}`] = value
  return labels
}

/** Milliseconds; a model may choose its own (metrics.md §5). */
function bucketsOf(config: Reported['config']): readonly number[] {
  const controls = config.model_metrics?.metric_control ?? []
  const own = controls.find((control) => control.metric_identifier?.family === FIRST_RESPONSE)?.histogram_options
    ?.buckets
  return own === undefined || own.length === 0 ? FIRST_RESPONSE_MS : own.toSorted((a, b) => a - b)
}

/** The families that a model's `metric_control` names and that take none. */
function listUnknown({ model_metrics: metrics }: Reported['config']): readonly string[] {
  const families = metrics?.metric_control.map(({ metric_identifier }) => metric_identifier?.family ?? '') ?? []
  return families.filter((family) => family !== FIRST_RESPONSE)
}

/** `quantile:error` pairs; broken ones are skipped, none left = the default. */
function parseQuantiles(text: string | undefined, skip: (pair: string) => void): readonly number[] {
  const quantiles = (text?.split(',') ?? []).flatMap((pair) => {
    const [quantile = '', error = ''] = pair.split(':')
    const value = Number(quantile)
    const valid = quantile.trim() !== '' && error.trim() !== '' && value >= 0 && value <= 1 && Number(error) >= 0
    if (!valid) skip(pair)
    return valid ? [value] : []
  })
  return quantiles.length > 0 ? quantiles : QUANTILES
}

function isShown(summary: string, cached: boolean): boolean {
  if (summary === REQUEST_SUMMARY) return !cached
  return cached || !summary.startsWith('nv_cache_')
}

function observeAll(
  summaries: readonly (Summary | undefined)[],
): Observer & { readonly summaries: readonly unknown[] } {
  const [request, queue, input, infer, output, hits, misses] = summaries
  return {
    summaries,
    request(total, waited) {
      request?.observe(total)
      queue?.observe(waited)
    },
    compute(gathered, inferred, handed) {
      input?.observe(gathered)
      infer?.observe(inferred)
      output?.observe(handed)
    },
    cache(hit, duration) {
      const summary = hit ? hits : misses
      summary?.observe(duration)
    },
  }
}

/** Count, sum, then the quantiles, which are unknown while nothing was observed. */
function orderSummary(collected: Collected, labels: Labels): readonly Sample[] {
  const family = toFamily(collected)
  const find = (suffix: string) => family.samples.find((sample) => sample.suffix === suffix)?.value ?? 0
  const count = find('_count')
  const quantiles = family.samples.filter(({ suffix }) => suffix === '')
  return [
    { suffix: '_count', labels, value: count },
    { suffix: '_sum', labels, value: find('_sum') },
    ...quantiles.map((sample) => ({
      suffix: '',
      labels: { ...labels, ...sample.labels },
      value: count === 0 ? Number.NaN : sample.value,
    })),
  ]
}

function toFamily({ name, help, type, values }: Collected): Family {
  const samples = values.map(({ metricName = name, labels, value }) => ({
    suffix: metricName.slice(name.length),
    labels,
    value,
  }))
  return { name, help, kind: type, samples }
}
