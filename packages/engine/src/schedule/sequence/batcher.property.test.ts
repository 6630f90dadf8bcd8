import fc from 'fast-check'
import { completeConfig, parsePbtxt } from '@conch/protocol'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Batch, BatchAnswer, BatchAnswers } from '../../backend/contract.ts'
import { Pool } from '../../instance/pool.ts'
import type { Reporter } from '../../observe/contract.ts'
import { Flight, newTimings } from '../../request.ts'
import { floats, testRequest } from '../../testing.ts'
import { chooseScheduler } from '../choose.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

const MAX_BATCH = 3
const IDLE = 50

function makeConfig(strategy: string) {
  const text = `name: "m" backend: "fake" max_batch_size: ${MAX_BATCH}
    input { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } output { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] }
    sequence_batching { ${strategy} iterative_sequence: true max_sequence_idle_microseconds: ${IDLE * 1_000}
      control_input { name: "READY" control { kind: CONTROL_SEQUENCE_READY int32_false_true: [ 0, 1 ] } } }`
  return completeConfig(parsePbtxt(text).config, {
    directoryName: 'm',
    versionFiles: [],
    preferredGroup: { kind: 'KIND_CPU', count: 1 },
    gpus: [],
  })
}

/** One request as the test knows it. */
interface Sent {
  readonly order: number
  /** Which life of which sequence; 0 = it never began. */
  readonly life: number
  /** When it could run at the earliest: its own arrival, or the end of the one before it. */
  readyAt: number
  readonly arrivedAt: number
  readonly client: AbortController
  readonly ends: string[]
  runs: number
}

interface Life {
  readonly requests: Sent[]
  instance: string | undefined
  place: number | undefined
}

type Result = 'answer' | 'again' | 'error'
type Move =
  | {
      readonly do: 'send'
      readonly sequence: number
      readonly start: boolean
      readonly end: boolean
      readonly width: number
      readonly timeout: number
    }
  | { readonly do: 'alone'; readonly width: number }
  | { readonly do: 'abort'; readonly which: number }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'finish'; readonly which: number; readonly result: Result }

const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      sequence: fc.integer({ min: 1, max: 8 }),
      start: fc.boolean(),
      end: fc.boolean(),
      width: fc.integer({ min: 1, max: 2 }),
      timeout: fc.constantFrom(0, 0, 7_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('alone' as const), width: fc.integer({ min: 1, max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('abort' as const), which: fc.nat(40) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 30 }) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('finish' as const),
      which: fc.nat(3),
      result: fc.constantFrom<Result>('answer', 'answer', 'answer', 'again', 'error'),
    }),
  },
)

async function flush() {
  for (let i = 0; i < 5; i++) await Promise.resolve()
}

function probe(id: number): Flight {
  const request = testRequest('m', [], { sequenceId: BigInt(id) })
  const parts = { rows: 1, chain: [], signal: undefined, timings: newTimings(), onResponse: undefined }
  return new Flight({ ended: () => undefined }, request, parts)
}

class World {
  readonly sent: Sent[] = []
  readonly lives: Life[] = []
  readonly #open = new Map<number, number>()
  readonly #running: { batch: Batch; resolve: (answers: BatchAnswers) => void }[] = []
  readonly #bySignal = new Map<AbortSignal, Sent>()
  readonly #direct: boolean
  readonly scheduler
  waiting = 0
  flaws: string[] = []

  constructor(config: ReturnType<typeof makeConfig>) {
    this.#direct = config.sequence_batching?.oldest === undefined
    const pool = new Pool()
    const reporter = {
      pending: (by: number) => (this.waiting += by),
      execution: () => undefined,
    } as unknown as Reporter
    for (const name of ['x', 'y']) {
      const execute = (batch: Batch) => this.#execute(name, batch)
      pool.add({ name, instance: { execute, close: () => Promise.resolve() } })
    }
    const findStep = () => {
      throw new Error('no ensemble')
    }
    this.scheduler = chooseScheduler({ model: 'm', version: '1', config, pool, reporter, findStep })
  }

  #execute(name: string, batch: Batch): Promise<BatchAnswers> {
    const { requests } = batch
    if (batch.rows > MAX_BATCH || requests.length > MAX_BATCH) this.flaws.push(`a batch of ${batch.rows}`)
    const widths = new Set(requests.map(({ request }) => request.inputs[0]?.shape[1]))
    if (widths.size > 1) this.flaws.push('shapes are mixed')
    const real = requests.map(({ signal }) => signal && this.#bySignal.get(signal))
    if (!this.#direct && real.includes(undefined)) this.flaws.push('oldest fills places')
    for (const [place, one] of real.entries()) if (one !== undefined) this.#checkPlace(name, place, one)
    this.#checkTurn(name, real)
    return new Promise((resolve) => this.#running.push({ batch, resolve }))
  }

  #checkPlace(name: string, place: number, one: Sent): void {
    const life = this.lives[one.life]
    if (life === undefined || one.ends.length > 0) return void this.flaws.push('what has ended runs')
    const next = life.requests.find(({ ends }) => ends.length === 0)
    if (next !== one) this.flaws.push(`a sequence is out of order: ${one.order} before ${next?.order}`)
    life.instance ??= name
    life.place ??= place
    if (life.instance !== name || (this.#direct && life.place !== place)) this.flaws.push('a sequence moves')
    if (this.#running.some(({ batch }) => batch.requests.some(({ signal }) => signal === one.client.signal))) {
      this.flaws.push('it runs twice at once')
    }
    one.runs += 1
  }

  /** Whoever could run here for longest is in the batch: nobody starves. */
  #checkTurn(name: string, batch: readonly (Sent | undefined)[]): void {
    const heads = this.lives
      .filter(({ instance }) => instance === name)
      .flatMap((life) => {
        return life.requests.find(({ ends }) => ends.length === 0) ?? []
      })
    const key = (one: Sent) => (this.#direct ? one.arrivedAt : one.readyAt)
    const [first] = heads.toSorted((a, b) => key(a) - key(b))
    if (first !== undefined && !heads.some((one) => key(one) === key(first) && batch.includes(one))) {
      this.flaws.push(`${first.order} is passed over`)
    }
  }

  send(id: number, flags: { start: boolean; end: boolean; width: number; timeout: number }): void {
    // A sequence may have ended by silence.
    const known = this.scheduler.continues?.(probe(id)) === true ? this.#open.get(id) : undefined
    const begins = known === undefined && flags.start
    if (begins) this.lives.push({ requests: [], instance: undefined, place: undefined })
    const life = known ?? (begins ? this.lives.length - 1 : -1)
    if (flags.end) this.#open.delete(id)
    else if (life >= 0) this.#open.set(id, life)
    this.#enqueue(BigInt(id), life, flags)
  }

  alone(width: number): void {
    this.lives.push({ requests: [], instance: undefined, place: undefined })
    this.#enqueue(0n, this.lives.length - 1, { start: false, end: false, width, timeout: 0 })
  }

  #enqueue(
    sequenceId: bigint,
    life: number,
    flags: { start: boolean; end: boolean; width: number; timeout: number },
  ): void {
    const client = new AbortController()
    const now = performance.now()
    const sent: Sent = { order: this.sent.length, life, readyAt: now, arrivedAt: now, client, ends: [], runs: 0 }
    this.sent.push(sent)
    this.#bySignal.set(client.signal, sent)
    const request = testRequest('m', [floats('IN', [1, flags.width])], {
      sequenceId,
      sequenceStart: flags.start,
      sequenceEnd: flags.end,
      timeout: flags.timeout,
    })
    const owner = { ended: (_: Flight, outcome: string) => this.#ended(sent, sequenceId, outcome) }
    const flight = new Flight(owner, request, {
      rows: 1,
      chain: ['m'],
      signal: client.signal,
      timings: newTimings(),
      onResponse: undefined,
    })
    flight.wait().catch(() => undefined)
    this.lives[life]?.requests.push(sent)
    try {
      this.scheduler.enqueue(flight)
    } catch (error) {
      flight.fail(error, 'rejected')
    }
  }

  #ended(sent: Sent, id: bigint, outcome: string): void {
    sent.ends.push(outcome)
    const next = this.lives[sent.life]?.requests.find(({ ends }) => ends.length === 0)
    if (next !== undefined && next.order > sent.order) next.readyAt = Math.max(next.readyAt, performance.now())
    // Nothing may join what was cancelled or refused.
    if (outcome !== 'success' && outcome !== 'backend' && this.#open.get(Number(id)) === sent.life)
      this.#open.delete(Number(id))
  }

  async finish(which: number, result: Result): Promise<void> {
    const [running] = this.#running.splice(which % Math.max(1, this.#running.length), 1)
    const answers: Record<Result, BatchAnswer> = {
      answer: { outputs: [] },
      again: 'again',
      error: { error: new Error('oh') },
    }
    const now = performance.now()
    for (const { signal } of result === 'again' ? (running?.batch.requests ?? []) : []) {
      const one = signal && this.#bySignal.get(signal)
      if (one !== undefined) Object.assign(one, { readyAt: now, arrivedAt: now })
    }
    running?.resolve(running.batch.requests.map(() => answers[result]))
    await flush()
  }

  async settle(): Promise<void> {
    for (let i = 0; i < 400 && (this.#running.length > 0 || this.sent.some(({ ends }) => ends.length === 0)); i++) {
      await this.finish(0, 'answer')
      vi.advanceTimersByTime(5)
    }
    vi.advanceTimersByTime(2 * IDLE)
    await flush()
  }
}

async function play(config: ReturnType<typeof makeConfig>, moves: readonly Move[]): Promise<World> {
  const world = new World(config)
  for (const one of moves) {
    if (one.do === 'send') world.send(one.sequence, one)
    else if (one.do === 'alone') world.alone(one.width)
    else if (one.do === 'abort') world.sent[one.which]?.client.abort()
    else if (one.do === 'wait') vi.advanceTimersByTime(one.ms)
    else await world.finish(one.which, one.result)
    await flush()
  }
  await world.settle()
  return world
}

it.each([
  'direct { }',
  'oldest { max_candidate_sequences: 3 preferred_batch_size: [ 2 ] max_queue_delay_microseconds: 4000 }',
])(
  'keeps its promises in 10 000 random schedules: %s',
  async (strategy) => {
    const config = makeConfig(strategy)
    await fc.assert(
      fc.asyncProperty(fc.array(move, { maxLength: 40, size: 'max' }), async (moves) => {
        const { flaws, sent, scheduler, waiting } = await play(config, moves)
        expect(flaws).toEqual([])
        expect(sent.filter(({ ends }) => ends.length !== 1)).toEqual([])
        expect([waiting, scheduler.pending, scheduler.inflight, vi.getTimerCount()]).toEqual([0, 0, 0, 0])
      }),
      { numRuns: 10_000 },
    )
  },
  120_000,
)
