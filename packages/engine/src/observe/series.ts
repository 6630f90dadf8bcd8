import type { FailureCounts } from './contract.ts'
import { Histogram } from './histogram.ts'
import type { Observer, Recorder } from './recorder.ts'

export type Labels = Readonly<Record<string, string>>

const NUMBERS = [
  'successes',
  'inferences',
  'executions',
  'successNs',
  'queueNs',
  'inputNs',
  'inferNs',
  'outputNs',
  'hits',
  'hitNs',
  'misses',
  'missNs',
] as const
const HISTOGRAMS = ['total', 'queue', 'input', 'infer', 'output'] as const
export type SeriesNumber = (typeof NUMBERS)[number]
export type SeriesHistogram = (typeof HISTOGRAMS)[number]

/** Sums over recorders. */
export class Totals {
  readonly numbers: Record<SeriesNumber, number> = {
    successes: 0,
    inferences: 0,
    executions: 0,
    successNs: 0,
    queueNs: 0,
    inputNs: 0,
    inferNs: 0,
    outputNs: 0,
    hits: 0,
    hitNs: 0,
    misses: 0,
    missNs: 0,
  }
  readonly histograms = new Map<SeriesHistogram, Histogram>()

  add(from: Recorder | Totals): void {
    for (const key of NUMBERS) this.numbers[key] += from instanceof Totals ? from.numbers[key] : from[key]
    for (const key of HISTOGRAMS) {
      const other = from instanceof Totals ? from.histograms.get(key) : from[key]
      if (other !== undefined) this.#merge(key, other)
    }
  }

  #merge(key: SeriesHistogram, other: Histogram): void {
    let own = this.histograms.get(key)
    if (own === undefined) {
      own = new Histogram(other.bounds)
      this.histograms.set(key, own)
    }
    own.sum += other.sum
    for (let i = 0; i < other.counts.length; i++) own.counts[i] = (own.counts[i] ?? 0) + (other.counts[i] ?? 0)
  }
}

/**
 * What Prometheus sees of one label set. While a version is reloaded its old and new self share it, so that counters do
 * not fall; it ends with the last of them.
 */
export class Series {
  readonly labels: Labels
  readonly recorders = new Set<Recorder>()
  readonly observer: (Observer & { readonly summaries: readonly unknown[] }) | undefined
  readonly firstResponse: Histogram | undefined
  /** Its model is served through the response cache. */
  readonly cached: boolean
  readonly #ended = new Totals()

  constructor(labels: Labels, parts: Pick<Series, 'observer' | 'firstResponse' | 'cached'>) {
    this.labels = labels
    this.observer = parts.observer
    this.firstResponse = parts.firstResponse
    this.cached = parts.cached
  }

  end(recorder: Recorder): void {
    this.recorders.delete(recorder)
    this.#ended.add(recorder)
  }

  read(): Totals {
    const totals = new Totals()
    totals.add(this.#ended)
    for (const recorder of this.recorders) totals.add(recorder)
    return totals
  }

  get waiting(): number {
    let waiting = 0
    for (const recorder of this.recorders) waiting += recorder.waiting
    return waiting
  }

  /** Of the newest load. */
  get loadSeconds(): number {
    return [...this.recorders].at(-1)?.loadSeconds ?? 0
  }
}

/** Failures of one label set; they outlive the version, as the original's do. */
export class FailureSeries {
  readonly labels: Labels
  readonly recorders = new Set<Recorder>()
  readonly #ended: FailureCounts = { REJECTED: 0, CANCELED: 0, BACKEND: 0, OTHER: 0 }

  constructor(labels: Labels) {
    this.labels = labels
  }

  end(recorder: Recorder): void {
    this.recorders.delete(recorder)
    for (const reason of REASONS) this.#ended[reason] += recorder.failures[reason]
  }

  read(): FailureCounts {
    const counts = { ...this.#ended }
    for (const recorder of this.recorders) for (const reason of REASONS) counts[reason] += recorder.failures[reason]
    return counts
  }
}

export const REASONS = ['REJECTED', 'CANCELED', 'BACKEND', 'OTHER'] as const
