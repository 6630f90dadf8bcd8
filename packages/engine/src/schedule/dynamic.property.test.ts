import { completeConfig, ConchError, parsePbtxt } from '@conch/protocol'
import fc from 'fast-check'
import { afterEach, beforeEach, it, vi } from 'vitest'
import type { BatchAnswers } from '../backend/contract.ts'
import { Pool } from '../instance/pool.ts'
import { Metrics } from '../observe/metrics.ts'
import { Flight, newTimings } from '../request.ts'
import type { Outcome } from '../request.ts'
import { floats, testRequest } from '../testing.ts'
import { DynamicScheduler } from './dynamic.ts'

// Every clock of the schedule is simulated: 10 000 schedules take seconds.
beforeEach(() => void vi.useFakeTimers({ now: 0 }))
afterEach(() => void vi.useRealTimers())

const SCHEDULES = 10_000
const FACTS = {
  preferredGroup: { kind: 'KIND_CPU', count: 1 },
  gpus: [],
  directoryName: 'm',
  versionFiles: [],
} as const
const metrics = new Metrics({ enabled: true, cpu: false, intervalMs: 0, config: {} })

/** What a model of the original's configuration may ask for. */
interface Rules {
  readonly maxRows: number
  readonly preferred: readonly number[]
  /** Milliseconds; 0 = none. */
  readonly delay: number
  readonly timeout: number
  readonly action: 'REJECT' | 'DELAY'
  /** 0 = unlimited. */
  readonly limit: number
  readonly levels: number
  readonly ordered: boolean
  readonly instances: number
}
interface Asked {
  readonly rows: number
  readonly level: number
  /** Time until the next one, and until one batch ends, milliseconds. */
  readonly gap: number
  readonly leaves: boolean
}

const rules: fc.Arbitrary<Rules> = fc.record({
  maxRows: fc.integer({ min: 1, max: 8 }),
  preferred: fc.uniqueArray(fc.integer({ min: 1, max: 8 }), { maxLength: 2 }),
  delay: fc.constantFrom(0, 0, 3, 10),
  timeout: fc.constantFrom(0, 0, 4, 12),
  action: fc.constantFrom('REJECT' as const, 'DELAY' as const),
  limit: fc.constantFrom(0, 0, 1, 3),
  levels: fc.constantFrom(0, 0, 3),
  ordered: fc.boolean(),
  instances: fc.integer({ min: 1, max: 3 }),
})
const asked: fc.Arbitrary<Asked> = fc.record({
  rows: fc.integer({ min: 1, max: 8 }),
  level: fc.integer({ min: 1, max: 3 }),
  gap: fc.constantFrom(0, 0, 0, 1, 2, 5),
  leaves: fc.constantFrom(false, false, false, true),
})

function write(made: Rules): string {
  const preferred = made.preferred.filter((size) => size <= made.maxRows)
  const policy = `default_queue_policy { default_timeout_microseconds: ${made.timeout * 1_000} timeout_action: ${made.action}
    max_queue_size: ${made.limit} }`
  const levels = made.levels > 0 ? `priority_levels: ${made.levels} default_priority_level: 2` : ''
  return `name: "m" backend: "fake" max_batch_size: ${made.maxRows}
    input { name: "IN" data_type: TYPE_FP32 dims: [ 1 ] } output { name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] }
    dynamic_batching { preferred_batch_size: [ ${preferred.join()} ] max_queue_delay_microseconds: ${made.delay * 1_000}
      preserve_ordering: ${made.ordered} ${policy} ${levels} }`
}

/** As `expect`, which costs more than all that is tested here. */
function demand(holds: boolean, what: string): void {
  if (!holds) throw new Error(what)
}

/** One request as the test knows it. */
interface Known {
  readonly level: number
  readonly arrived: number
  readonly rows: number
  started: number | undefined
  /** Its client left while it waited. */
  left: boolean
  readonly ends: string[]
}

/** A schedule, its instances, and all that must hold at every moment. */
class World {
  readonly known: Known[] = []
  readonly batches: number[][] = []
  readonly order: number[] = []
  readonly #running: ((answers: BatchAnswers) => void)[] = []
  #checked = 0
  readonly #rules: Rules
  readonly #pool = new Pool()
  readonly #scheduler: DynamicScheduler

  constructor(made: Rules) {
    this.#rules = made
    const config = completeConfig(parsePbtxt(write(made)).config, FACTS)
    const reporter = metrics.createReporter({ model: 'm', version: '1', config })
    const findStep = () => {
      throw new Error('no ensemble')
    }
    this.#scheduler = new DynamicScheduler({ model: 'm', version: '1', config, pool: this.#pool, reporter, findStep })
    for (let i = 0; i < made.instances; i++) {
      this.#pool.add({
        name: `m_${i}`,
        instance: {
          execute: ({ requests }) => {
            this.#start(requests.map(({ request }) => Number(request.id)))
            return new Promise<BatchAnswers>((resolve) => void this.#running.push(resolve))
          },
          close: () => Promise.resolve(),
        },
      })
    }
  }

  #start(ids: readonly number[]): void {
    this.batches.push([...ids])
    for (const id of ids) {
      const one = this.known[id]
      if (one !== undefined) one.started = performance.now()
    }
  }

  get busy(): number {
    return this.#running.length
  }

  get idle(): readonly number[] {
    return [this.#scheduler.pending, this.#scheduler.inflight]
  }

  /** Those in the queue. With `preserve_ordering` who left it early is told so only in its turn. */
  waiting(level?: number): readonly Known[] {
    const { timeout, action } = this.#rules
    const isOver = ({ arrived }: Known) => timeout > 0 && action === 'REJECT' && performance.now() - arrived >= timeout
    return this.known.filter((one) => {
      const waits = one.started === undefined && one.ends.length === 0 && !one.left && !isOver(one)
      return waits && (level === undefined || one.level === level)
    })
  }

  send({ rows, level, leaves }: Asked): void {
    const id = this.known.length
    const own = this.#rules.levels > 0 ? level : 0
    const one: Known = {
      level: own,
      arrived: performance.now(),
      rows: Math.min(rows, this.#rules.maxRows),
      started: undefined,
      left: false,
      ends: [],
    }
    const before = this.waiting(own).length
    this.known.push(one)
    const client = new AbortController()
    const request = testRequest('m', [floats('IN', [one.rows, 1])], { id: String(id), priority: level })
    const owner = { ended: (flight: Flight, outcome: Outcome) => this.#end(Number(flight.request.id), outcome) }
    const parts = { rows: one.rows, chain: ['m'], signal: client.signal, timings: newTimings(), onResponse: undefined }
    const flight = new Flight(owner, request, parts)
    flight.wait().catch(() => undefined)
    const refused = this.#enqueue(flight)
    const { limit } = this.#rules
    // Exactly: never below the limit, never beyond it.
    if (refused) demand(limit > 0 && before === limit, `refused with ${before} waiting`)
    if (!refused && limit > 0) demand(this.waiting(own).length <= limit, 'the queue is longer than its limit')
    if (!leaves) return
    one.left = one.started === undefined
    client.abort()
  }

  #enqueue(flight: Flight): boolean {
    try {
      this.#scheduler.enqueue(flight)
      return false
    } catch (error) {
      flight.fail(error, 'rejected')
      return error instanceof ConchError && error.message.endsWith('Exceeds maximum queue size')
    }
  }

  #end(id: number, outcome: Outcome): void {
    const one = this.known[id]
    one?.ends.push(`${outcome} ${performance.now()}`)
    if (outcome === 'success') this.order.push(id)
  }

  async finish(): Promise<void> {
    const rows = this.#rules.maxRows
    this.#running.shift()?.(Array.from({ length: rows }, () => ({ outputs: [] })))
    for (let i = 0; i < 4; i++) await Promise.resolve()
  }

  /** What must hold whenever nothing happens. */
  check(): void {
    const { instances, delay, maxRows } = this.#rules
    demand(this.#scheduler.pending === this.waiting().length, 'pending is miscounted')
    for (; this.#checked < this.batches.length; this.#checked++) {
      const batch = this.batches[this.#checked] ?? []
      demand(batch.reduce((sum, id) => sum + (this.known[id]?.rows ?? 0), 0) <= maxRows, 'a batch is too large')
    }
    // An instance rests only while the oldest may still wait for company.
    const oldest = Math.min(...this.waiting().map(({ arrived }) => arrived))
    if (this.busy >= instances || oldest === Infinity) return
    demand(performance.now() - oldest < Math.max(delay, 1), 'an instance rests while somebody waits')
  }

  /** What must hold of a whole schedule. */
  checkEnd(): void {
    const { timeout, action, ordered } = this.#rules
    demand(
      this.idle.every((count) => count === 0),
      'somebody was never served',
    )
    for (const one of this.known) {
      // None lost, none answered twice.
      demand(one.ends.length === 1, `${one.ends.length} ends of one request`)
      const [outcome, at] = one.ends[0]?.split(' ') ?? []
      const late = outcome === 'rejected' && Number(at) > one.arrived
      // On time, not when an instance happens to be free.
      if (late) demand(timeout > 0 && action === 'REJECT' && Number(at) - one.arrived >= timeout, 'rejected too early')
      if (late && !ordered) demand(Number(at) - one.arrived === timeout, 'rejected too late')
      if (timeout > 0 && action === 'REJECT' && one.started !== undefined)
        demand(one.started - one.arrived <= timeout, 'ran after its time')
    }
    this.#checkOrder()
    if (ordered)
      demand(
        this.order.every((id, i) => i === 0 || id > (this.order[i - 1] ?? -1)),
        'answers change places',
      )
  }

  /** Within a level who came first starts first, unless its time was over. */
  #checkOrder(): void {
    const { timeout } = this.#rules
    const seen = new Map<number, number>()
    for (const id of this.batches.flat()) {
      const one = this.known[id]
      if (one === undefined || (timeout > 0 && (one.started ?? 0) - one.arrived >= timeout)) continue
      demand(id > (seen.get(one.level) ?? -1), 'requests of a level change places')
      seen.set(one.level, id)
    }
  }
}

it(`keeps its promises in ${SCHEDULES} random schedules`, async () => {
  await fc.assert(
    fc.asyncProperty(rules, fc.array(asked, { maxLength: 20 }), async (made, requests) => {
      vi.setSystemTime(0)
      const world = new World(made)
      for (const one of requests) {
        world.send(one)
        world.check()
        if (one.gap === 0) continue
        vi.advanceTimersByTime(one.gap)
        world.check()
        if (one.gap > 1) await world.finish()
        world.check()
      }
      // Nobody starves: when each batch ends a little later, all are served.
      for (let i = 0; i < 3 * requests.length + 20 && world.idle.some((count) => count > 0); i++) {
        vi.advanceTimersByTime(2)
        world.check()
        await world.finish()
        world.check()
      }
      world.checkEnd()
    }),
    { numRuns: SCHEDULES },
  )
}, 300_000)
