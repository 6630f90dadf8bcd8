import type { Outcome } from '../request.ts'
import type { EndedRequest, RequestHistory, RequestStages } from './contract.ts'
import { Slowest } from './slowest.ts'

export const CAPACITY = 1_000
/** Numbers of one request: the stamps in their order, then the time that the cache took. */
const WIDTH = 8
const CACHE_MS = 7

export interface VersionName {
  readonly model: string
  readonly version: string
}

/** One version, and where its model's slowest requests are gathered. */
export interface Member {
  readonly name: VersionName
  readonly slowest: Slowest
}

/** What is known of a place besides its numbers. */
interface Place {
  id: string
  name: VersionName
  outcome: Outcome
  rows: number
  hit: boolean
  /** Of the request itself, and of the one that it was made for; 0 = none. */
  serial: number
  outer: number
}

const NOBODY: VersionName = { model: '', version: '' }

/**
 * The stages of the newest requests, and of the slowest ones of each model. Every request is written down, so nothing is made
 * here for it: it takes the oldest one's place. Of the request itself only its id is kept.
 */
export class StageRing implements RequestHistory {
  readonly #times = new Float64Array(CAPACITY * WIDTH)
  readonly #places: readonly Place[] = Array.from({ length: CAPACITY }, () => ({
    id: '',
    name: NOBODY,
    outcome: 'success',
    rows: 0,
    hit: false,
    serial: 0,
    outer: 0,
  }))
  readonly #models = new Map<string, { readonly slowest: Slowest; versions: number }>()
  #next = 0
  #count = 0
  #lastSerial = 0

  /** A version whose requests will come, until `leave`. */
  join(name: VersionName): Member {
    const known = this.#models.get(name.model) ?? { slowest: new Slowest(), versions: 0 }
    known.versions += 1
    this.#models.set(name.model, known)
    return { name, slowest: known.slowest }
  }

  /** The version is there no more. */
  leave({ name: { model } }: Member): void {
    const known = this.#models.get(model)
    if (known === undefined) return
    known.versions -= 1
    if (known.versions === 0) this.#models.delete(model)
  }

  add({ name, slowest }: Member, ended: EndedRequest, outcome: Outcome): void {
    const at = this.#next
    const place = this.#places[at]
    if (place === undefined) return
    this.#next = at + 1 === CAPACITY ? 0 : at + 1
    if (this.#count < CAPACITY) this.#count += 1
    place.id = keepId(ended.request?.id ?? '')
    place.name = name
    place.outcome = outcome
    place.rows = ended.rows
    place.serial = ended.serial ?? 0
    place.outer = ended.outer === undefined ? 0 : this.#number(ended.outer)
    place.hit = ended.cache?.hit === true
    this.#write(at * WIDTH, ended)
    const { start, end } = ended.timings
    if (slowest.wants(end - start, end)) slowest.take(this.#read(at), end)
  }

  #write(from: number, { timings, cache }: EndedRequest): void {
    const times = this.#times
    times[from] = timings.start
    times[from + 1] = timings.queued
    times[from + 2] = timings.computeStart
    times[from + 3] = timings.computeInputEnd
    times[from + 4] = timings.computeOutputStart
    times[from + 5] = timings.computeEnd
    times[from + 6] = timings.end
    times[from + CACHE_MS] = cache === undefined ? 0 : cache.ms
  }

  /** Those that others were made for have a number. */
  #number(outer: { serial: number }): number {
    if (outer.serial === 0) outer.serial = this.#lastSerial += 1
    return outer.serial
  }

  find(wanted: string): RequestStages | undefined {
    const id = keepId(wanted)
    let nested: number | undefined
    for (const at of this.#newest()) {
      const place = this.#places[at]
      if (place?.id !== id) continue
      if (place.outer === 0) return this.#read(at)
      nested ??= at
    }
    return nested === undefined ? undefined : this.#read(nested)
  }

  recent(limit: number, model?: string): readonly RequestStages[] {
    const found: RequestStages[] = []
    for (const at of this.#newest()) {
      if (found.length >= limit) break
      const place = this.#places[at]
      // Those made for others are shown with them.
      const wanted = model === undefined ? place?.outer === 0 : place?.name.model === model
      if (wanted) found.push(this.#read(at))
    }
    return found
  }

  slowest(model: string): readonly RequestStages[] {
    return this.#models.get(model)?.slowest.list(performance.now()) ?? []
  }

  *#newest(): Generator<number, void> {
    for (let back = 1; back <= this.#count; back++) yield (this.#next - back + CAPACITY) % CAPACITY
  }

  #read(at: number, depth = 0): RequestStages {
    const { id, name, outcome, rows, hit, serial } = this.#places[at] as Place
    const [start, queued, computeStart, inputEnd, outputStart, computeEnd, end, cacheMs] = this.#stamps(at)
    const span = (from: number, to: number) => (from === 0 || to === 0 ? 0 : Math.max(0, Math.round((to - from) * 1e3)))
    return {
      id,
      model: name.model,
      version: name.version,
      outcome,
      rows,
      at: Math.round(performance.timeOrigin + start),
      total: span(start, end),
      // One that never ran has waited until it ended.
      queue: span(queued, computeStart === 0 ? end : computeStart),
      input: span(computeStart, inputEnd),
      infer: span(inputEnd, outputStart),
      output: span(outputStart, computeEnd),
      cache: cacheMs === 0 ? undefined : { hit, us: Math.round(cacheMs * 1e3) },
      steps: serial === 0 || depth >= MOST_DEPTH ? [] : this.#readSteps(serial, depth + 1),
    }
  }

  #stamps(at: number): readonly [number, number, number, number, number, number, number, number] {
    const from = at * WIDTH
    return [...this.#times.subarray(from, from + WIDTH)] as unknown as readonly [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ]
  }

  /** In the order in which they began. */
  #readSteps(serial: number, depth: number): readonly RequestStages[] {
    const steps: number[] = []
    for (const at of this.#newest()) if (this.#places[at]?.outer === serial && steps.length < MOST_STEPS) steps.push(at)
    const startOf = (at: number) => this.#times[at * WIDTH] ?? 0
    return steps.toSorted((a, b) => startOf(a) - startOf(b)).map((at) => this.#read(at, depth))
  }
}

const MOST_ID = 256

/** A copy of the beginning of a long one: clients choose how long they are. */
function keepId(id: string): string {
  return id.length <= MOST_ID ? id : Buffer.from(id.slice(0, MOST_ID)).toString()
}

const MOST_STEPS = 100
const MOST_DEPTH = 8
