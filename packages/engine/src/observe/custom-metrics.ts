import { ConchError } from '@conch/protocol'
import type { CustomFamily, CustomKind, CustomSeries } from '../backend/contract.ts'
import { CustomValue, SeriesHandle } from './custom-series.ts'
import type { Family } from './exposition.ts'

/** Of all models together: a model that makes one of each request must not fill the server. */
const MOST_FAMILIES = 10_000
const MOST_SERIES = 100_000
const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
/** The server's own families, those that the original has with a GPU or a cache included; its LLM backends make others themselves. */
const OWN = /^(conch|nv_(inference|model|cache|gpu|energy|cpu|pinned))_/
const LABEL = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/

/** What models that share a family share. */
interface Group {
  readonly name: string
  readonly kind: CustomKind
  readonly help: string
  /** By labels. */
  readonly values: Map<string, CustomValue>
  holders: number
}

/** The metrics that models make themselves (metrics §7). Series and families are there as long as somebody holds them. */
export class CustomMetrics {
  readonly #groups = new Map<string, Group>()
  #series = 0

  createFamily(kind: CustomKind, name: string, description: string): CustomFamily {
    if (!NAME.test(name)) throw new ConchError('INVALID_ARG', 'Invalid metric name')
    if (OWN.test(name)) {
      throw new ConchError('INVALID_ARG', `Family name '${name}' is the server's own; choose another name`)
    }
    const known = this.#groups.get(name)
    if (known !== undefined && known.kind !== kind) {
      throw new ConchError('INVALID_ARG', 'Family name already exists with different type')
    }
    return new FamilyHandle(known ?? this.#createGroup(kind, name, description), this)
  }

  #createGroup(kind: CustomKind, name: string, help: string): Group {
    if (this.#groups.size >= MOST_FAMILIES) {
      throw new ConchError('UNAVAILABLE', `models have ${MOST_FAMILIES} metric families already; no more are made`)
    }
    const group: Group = { name, kind, help, values: new Map(), holders: 0 }
    this.#groups.set(name, group)
    return group
  }

  createSeries(
    group: Group,
    labels: Readonly<Record<string, string>>,
    buckets: readonly number[] | undefined,
  ): SeriesHandle {
    checkLabels(labels, group.kind)
    checkBuckets(buckets, group.kind)
    const key = JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    const value = group.values.get(key) ?? this.#createValue(group, { labels, buckets })
    group.values.set(key, value)
    return new SeriesHandle(value, () => {
      if (value.holders > 0) return
      group.values.delete(key)
      this.#series -= 1
    })
  }

  #createValue(
    group: Group,
    { labels, buckets }: Pick<CustomValue, 'labels'> & { buckets: readonly number[] | undefined },
  ) {
    if (this.#series >= MOST_SERIES) {
      throw new ConchError('UNAVAILABLE', `models have ${MOST_SERIES} metric series already; no more are made`)
    }
    this.#series += 1
    return new CustomValue(
      group.kind,
      { ...labels },
      buckets?.filter((bound) => bound !== Infinity),
    )
  }

  release(group: Group): void {
    if (group.holders === 0) this.#groups.delete(group.name)
  }

  families(): readonly Family[] {
    return Array.from(this.#groups.values(), ({ name, kind, help, values }) => ({
      name,
      help,
      kind,
      samples: [...values.values()].flatMap((value) => value.samples()),
    }))
  }
}

/** What one model holds of a family; closing it closes what was made through it. */
class FamilyHandle implements CustomFamily {
  readonly #group: Group
  readonly #metrics: CustomMetrics
  readonly #made = new Set<SeriesHandle>()
  #open = true

  constructor(group: Group, metrics: CustomMetrics) {
    group.holders += 1
    this.#group = group
    this.#metrics = metrics
  }

  createSeries(labels: Readonly<Record<string, string>>, buckets: readonly number[] | undefined): CustomSeries {
    if (!this.#open) throw new ConchError('INTERNAL', 'Could not create metric. Metric family has been deleted.')
    const series = this.#metrics.createSeries(this.#group, labels, buckets)
    this.#made.add(series)
    series.onClosed = () => void this.#made.delete(series)
    return series
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    for (const series of this.#made) series.close()
    this.#group.holders -= 1
    this.#metrics.release(this.#group)
  }
}

function checkLabels(labels: Readonly<Record<string, string>>, kind: CustomKind): void {
  for (const name of Object.keys(labels)) {
    if (LABEL.test(name) && (kind !== 'histogram' || name !== 'le')) continue
    throw new ConchError('INVALID_ARG', 'Invalid label name')
  }
}

function checkBuckets(buckets: readonly number[] | undefined, kind: CustomKind): void {
  if (kind !== 'histogram') {
    if (buckets === undefined) return
    throw new ConchError('INVALID_ARG', `Unexpected args found in ${kind} Metric constructor.`)
  }
  if (buckets === undefined) throw new ConchError('INVALID_ARG', 'Bucket boundaries not found in Metric args.')
  const sorted = buckets.every((bound, index) => index === 0 || bound > (buckets[index - 1] ?? Infinity))
  if (!sorted || buckets.some(Number.isNaN)) {
    throw new ConchError('INVALID_ARG', 'Bucket Boundaries must be strictly sorted')
  }
}
