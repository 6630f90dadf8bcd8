import { ConchError } from '@conch/protocol'
import type { CustomFamily, CustomKind, CustomSeries, EngineCalls } from '../contract.ts'
import type { CallFrame } from './frames.ts'

const KINDS = new Set<string>(['counter', 'gauge', 'histogram'])

/** The metrics of one child, by number; all are gone when the child is. */
export class CustomMetrics {
  readonly #engine: EngineCalls
  readonly #families = new Map<number, CustomFamily>()
  readonly #series = new Map<number, CustomSeries>()
  #next = 1

  constructor(engine: EngineCalls) {
    this.#engine = engine
  }

  createFamily({ kind = '', name = '', description = '' }: CallFrame): number {
    if (!KINDS.has(kind)) throw new ConchError('INVALID_ARG', `unknown metric kind '${kind}'`)
    const family = this.#engine.createFamily(kind as CustomKind, name, description)
    this.#families.set(this.#next, family)
    return this.#next++
  }

  createSeries({ family = 0, labels = {}, buckets }: CallFrame): number {
    const found = this.#families.get(family)
    if (found === undefined) throw new ConchError('NOT_FOUND', `there is no metric family ${family}`)
    this.#series.set(this.#next, found.createSeries(labels, buckets ?? undefined))
    return this.#next++
  }

  /** The value, for those who ask for it. */
  operate({ series = 0, op = '', by = 0 }: CallFrame): number | null {
    const found = this.#series.get(series)
    if (found === undefined) throw new ConchError('NOT_FOUND', `there is no metric ${series}`)
    if (op === 'value') return found.value()
    if (op === 'increment') found.increment(by)
    else if (op === 'set') found.set(by)
    else if (op === 'observe') found.observe(by)
    else throw new ConchError('INVALID_ARG', `unknown metric operation '${op}'`)
    return null
  }

  drop({ family, series }: CallFrame): void {
    if (series !== undefined) {
      this.#series.get(series)?.close()
      this.#series.delete(series)
    } else if (family !== undefined) {
      this.#families.get(family)?.close()
      this.#families.delete(family)
    }
  }

  close(): void {
    for (const series of this.#series.values()) series.close()
    for (const family of this.#families.values()) family.close()
    this.#series.clear()
    this.#families.clear()
  }
}
