import { ConchError } from '@conch/protocol'
import type { CustomKind, CustomSeries } from '../backend/contract.ts'
import type { Sample } from './exposition.ts'
import { printNumber } from './exposition.ts'
import { Histogram } from './histogram.ts'

/** One series of a model's own metric: its numbers, whoever shares them. */
export class CustomValue {
  readonly labels: Readonly<Record<string, string>>
  /** Handles that models hold on it. */
  holders = 0
  readonly #kind: CustomKind
  readonly #histogram: Histogram | undefined
  #value = 0

  constructor(kind: CustomKind, labels: Readonly<Record<string, string>>, buckets: readonly number[] | undefined) {
    this.#kind = kind
    this.labels = labels
    this.#histogram = buckets && new Histogram(buckets)
  }

  increment(by: number): void {
    if (this.#kind === 'histogram') throw this.#unsupported('Increment')
    if (this.#kind === 'counter' && !(by >= 0)) {
      const rule = 'can only be incremented monotonically by non-negative values.'
      throw new ConchError('INVALID_ARG', `TRITONSERVER_METRIC_KIND_COUNTER ${rule}`)
    }
    this.#value += by
  }

  set(value: number): void {
    if (this.#kind !== 'gauge') throw this.#unsupported('Set')
    this.#value = value
  }

  observe(value: number): void {
    if (this.#histogram === undefined) throw this.#unsupported('Observe')
    this.#histogram.observe(value)
  }

  value(): number {
    if (this.#kind === 'histogram') throw this.#unsupported('Value')
    return this.#value
  }

  samples(): readonly Sample[] {
    const { labels } = this
    if (this.#histogram === undefined) return [{ suffix: '', labels, value: this.#value }]
    const { bounds, counts, sum } = this.#histogram
    let below = 0
    const buckets = Array.from(counts, (count, index) => {
      below += count
      return { suffix: '_bucket', labels: { ...labels, le: printNumber(bounds[index] ?? Infinity) }, value: below }
    })
    return [{ suffix: '_count', labels, value: below }, { suffix: '_sum', labels, value: sum }, ...buckets]
  }

  #unsupported(what: string): ConchError {
    return new ConchError(
      'UNSUPPORTED',
      `TRITONSERVER_METRIC_KIND_${this.#kind.toUpperCase()} does not support ${what}`,
    )
  }
}

/** What one model holds: it works until this one is closed, whoever else shares the numbers. */
export class SeriesHandle implements CustomSeries {
  readonly #value: CustomValue
  readonly #onClose: () => void
  /** For whoever made it. */
  onClosed: () => void = () => undefined
  #open = true

  constructor(value: CustomValue, onClose: () => void) {
    value.holders += 1
    this.#value = value
    this.#onClose = onClose
  }

  increment(by: number): void {
    this.#ask('increment').increment(by)
  }

  set(value: number): void {
    this.#ask('set').set(value)
  }

  observe(value: number): void {
    this.#ask('observe').observe(value)
  }

  value(): number {
    return this.#ask('get').value()
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    this.#value.holders -= 1
    this.#onClose()
    this.onClosed()
  }

  #ask(what: string): CustomValue {
    if (this.#open) return this.#value
    throw new ConchError('INTERNAL', `Could not ${what} metric value. Metric has been invalidated.`)
  }
}
