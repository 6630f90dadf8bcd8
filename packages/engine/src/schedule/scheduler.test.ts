import fc from 'fast-check'
import { completeConfig, parsePbtxt } from '@conch/protocol'
import type { InferRequest } from '@conch/protocol'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Batch, BatchAnswers } from '../backend/contract.ts'
import { Pool } from '../instance/pool.ts'
import { Metrics } from '../observe/metrics.ts'
import { Flight, newTimings } from '../request.ts'
import { floats, testRequest } from '../testing.ts'
import { chooseScheduler } from './choose.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

/** A scheduler over instances that work until they are told to end; times are fake milliseconds. */
function setUp(config: string, instances = 1) {
  const parsed = parsePbtxt(`name: "m" backend: "fake" ${config}`)
  const facts = {
    directoryName: 'm',
    versionFiles: [],
    preferredGroup: { kind: 'KIND_CPU', count: 1 },
    gpus: [],
  } as const
  const complete = completeConfig(parsed.config, facts)
  const pool = new Pool()
  const reporter = new Metrics({ enabled: true, cpu: false, intervalMs: 0, config: {} }).createReporter({
    model: 'm',
    version: '1',
    config: complete,
  })
  /** Ids per batch in order of start, and how to end each. */
  const started: string[][] = []
  const ends: (() => void)[] = []
  const execute = (batch: Batch): Promise<BatchAnswers> => {
    started.push(batch.requests.map(({ request }) => request.id))
    return new Promise((resolve) => ends.push(() => resolve(batch.requests.map(() => ({ outputs: [] })))))
  }
  for (let i = 0; i < instances; i++)
    pool.add({ name: `m_${i}`, instance: { execute, close: () => Promise.resolve() } })
  const findStep = () => {
    throw new Error('no ensemble')
  }
  const scheduler = chooseScheduler({ model: 'm', version: '1', config: complete, pool, reporter, findStep })
  const outcomes: string[] = []
  const send = (
    id: string,
    change: Partial<InferRequest> & { rows?: number; signal?: AbortSignal; width?: number } = {},
  ) => {
    const { rows = 1, signal, width = 1, ...rest } = change
    const request = testRequest('m', [floats('IN', [rows, width])], { id, ...rest })
    const owner = { ended: (flight: Flight, outcome: string) => void outcomes.push(`${flight.request.id} ${outcome}`) }
    const flight = new Flight(owner, request, {
      rows,
      chain: ['m'],
      signal,
      timings: newTimings(),
      onResponse: () => undefined,
    })
    const end = flight.wait()
    try {
      scheduler.enqueue(flight)
    } catch (error) {
      flight.fail(error, 'rejected')
    }
    return end
  }
  const finish = async (index: number) => {
    ends[index]?.()
    await vi.advanceTimersByTimeAsync(0)
  }
  return { scheduler, reporter, pool, started, outcomes, send, finish }
}

const IO =
  'input { name: "IN" data_type: TYPE_FP32 dims: [ 1 ] } output { name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] }'
const BATCH = `max_batch_size: 8 ${IO}`

it('runs each request alone without dynamic batching', async () => {
  const { started, send, finish, scheduler } = setUp(BATCH)
  for (const id of ['a', 'b', 'c']) void send(id)
  expect([scheduler.pending, scheduler.inflight]).toEqual([2, 3])
  await finish(0)
  await finish(1)
  expect(started).toEqual([['a'], ['b'], ['c']])
})

it('joins what waits into one batch and counts it', async () => {
  const { started, send, finish, reporter } = setUp(`${BATCH} dynamic_batching { }`)
  for (const id of ['a', 'b', 'c', 'd']) void send(id)
  expect(reporter.waiting).toBe(3)
  await finish(0)
  expect(started).toEqual([['a'], ['b', 'c', 'd']])
  expect(reporter.waiting).toBe(0)
  await finish(1)
  expect(reporter.statistics).toMatchObject({ execution_count: 2, batch_stats: [{ batch_size: 1 }, { batch_size: 3 }] })
})

it('gives two idle instances one request each, then fills them', async () => {
  const { started, send, finish } = setUp(`max_batch_size: 4 ${IO} dynamic_batching { }`, 2)
  for (let i = 0; i < 10; i++) void send(String(i))
  await finish(0)
  await finish(1)
  expect(started.map((batch) => batch.length)).toEqual([1, 1, 4, 4])
})

it('waits up to the delay and no longer', async () => {
  const { started, send } = setUp(`${BATCH} dynamic_batching { max_queue_delay_microseconds: 400000 }`)
  void send('a')
  await vi.advanceTimersByTimeAsync(100)
  void send('b')
  expect(started).toEqual([])
  await vi.advanceTimersByTimeAsync(299)
  expect(started).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(started).toEqual([['a', 'b']])
})

it('does not wait when the batch is full', () => {
  const { started, send } = setUp(`${BATCH} dynamic_batching { max_queue_delay_microseconds: 400000 }`)
  void send('a', { rows: 4 })
  void send('b', { rows: 4 })
  expect(started).toEqual([['a', 'b']])
})

it('keeps requests of another shape out of a batch', async () => {
  const variable = IO.replaceAll('dims: [ 1 ]', 'dims: [ -1 ]')
  const { started, send, finish } = setUp(`max_batch_size: 8 ${variable} dynamic_batching { }`)
  for (const [id, width] of [
    ['x', 1],
    ['a', 4],
    ['b', 4],
    ['c', 8],
    ['d', 4],
  ] as const)
    void send(id, { width })
  for (let i = 0; i < 4; i++) await finish(i)
  expect(started).toEqual([['x'], ['a', 'b'], ['c'], ['d']])
})

it('serves by priority, then by arrival; unknown levels are the default', async () => {
  const { started, send, finish } = setUp(`max_batch_size: 1 ${IO}
    dynamic_batching { priority_levels: 3 default_priority_level: 2 }`)
  void send('busy')
  for (const [index, priority] of [2, 3, 1, 9, 0, 1].entries()) void send(String(index), { priority })
  for (let i = 0; i < 6; i++) await finish(i)
  expect(started.flat().slice(1)).toEqual(['2', '5', '0', '3', '4', '1'])
})

it('refuses what exceeds the queue, exactly', async () => {
  const { send, outcomes } = setUp(`max_batch_size: 1 ${IO}
    dynamic_batching { default_queue_policy { max_queue_size: 3 } }`)
  const ends = ['busy', 'a', 'b', 'c', 'd'].map((id) => send(id))
  await expect(ends[4]).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: '[request id: d] Exceeds maximum queue size',
  })
  expect(outcomes).toEqual(['d rejected'])
})

const POLICY = 'default_timeout_microseconds: 150000 allow_timeout_override: true'

it('rejects a request when its time is over, not later', async () => {
  const { send, outcomes, reporter } = setUp(
    `max_batch_size: 1 ${IO} dynamic_batching { default_queue_policy { ${POLICY} } }`,
  )
  void send('busy')
  const late = send('late')
  const shorter = send('shorter', { timeout: 20_000 })
  const longer = send('longer', { timeout: 10_000_000 })
  for (const end of [late, shorter, longer]) end.catch(() => undefined)
  await vi.advanceTimersByTimeAsync(20)
  expect(outcomes).toEqual(['shorter rejected'])
  await vi.advanceTimersByTimeAsync(130)
  expect(outcomes).toEqual(['shorter rejected', 'late rejected', 'longer rejected'])
  await expect(late).rejects.toMatchObject({ message: 'Request timeout expired' })
  expect(reporter.waiting).toBe(0)
})

it('serves a delayed request after one that came later', async () => {
  const { started, send, finish } = setUp(`max_batch_size: 1 ${IO}
    dynamic_batching { default_queue_policy { timeout_action: DELAY default_timeout_microseconds: 80000 } }`)
  void send('busy')
  void send('old')
  await vi.advanceTimersByTimeAsync(100)
  void send('new')
  await finish(0)
  await finish(1)
  expect(started).toEqual([['busy'], ['new'], ['old']])
})

it('holds a fast answer until the slow one before it', async () => {
  const { send, finish, outcomes } = setUp(`max_batch_size: 1 ${IO} dynamic_batching { preserve_ordering: true }`, 2)
  void send('slow')
  void send('fast')
  await finish(1)
  expect(outcomes).toEqual([])
  await finish(0)
  expect(outcomes).toEqual(['slow success', 'fast success'])
})

it.each(['', 'dynamic_batching { }'])('never runs a request whose client has gone (%s)', async (batching) => {
  const { started, send, finish, outcomes, reporter } = setUp(`${BATCH} ${batching}`)
  const client = new AbortController()
  void send('busy')
  const gone = send('gone', { signal: client.signal })
  void send('next')
  client.abort()
  await expect(gone).rejects.toMatchObject({ code: 'CANCELLED', message: '' })
  await finish(0)
  expect(started).toEqual([['busy'], ['next']])
  expect(outcomes).toEqual(['gone cancelled', 'busy success'])
  expect(reporter.waiting).toBe(0)
})

it('refuses new requests while it stops and ends when the last is answered', async () => {
  const { scheduler, send, finish } = setUp(`${BATCH} dynamic_batching { }`)
  void send('a')
  void send('b')
  let stopped = false
  const stop = scheduler.stop().then(() => (stopped = true))
  await expect(send('c')).rejects.toThrow(
    '[request id: c] Server is stopping, scheduler for model has stopped accepting',
  )
  await finish(0)
  expect(stopped).toBe(false)
  await finish(1)
  await stop
  expect(stopped).toBe(true)
})

it('answers every request once, whatever the mix', async () => {
  const request = fc.record({
    rows: fc.integer({ min: 1, max: 4 }),
    priority: fc.integer({ min: 0, max: 4 }),
    gap: fc.integer({ min: 0, max: 5 }),
    gone: fc.boolean(),
  })
  const config = `max_batch_size: 4 ${IO} dynamic_batching {
    max_queue_delay_microseconds: 3000 priority_levels: 3 default_priority_level: 2
    default_queue_policy { default_timeout_microseconds: 40000 max_queue_size: 6 } }`
  await fc.assert(
    fc.asyncProperty(fc.array(request, { maxLength: 30 }), async (requests) => {
      const { started, outcomes, send, finish, reporter, scheduler } = setUp(config, 2)
      let ended = 0
      for (const [index, { rows, priority, gap, gone }] of requests.entries()) {
        const client = new AbortController()
        send(String(index), { rows, priority, signal: client.signal }).catch(() => undefined)
        if (gone) client.abort()
        await vi.advanceTimersByTimeAsync(gap)
        if (gap > 3 && ended < started.length) await finish(ended++)
      }
      for (let i = 0; i < 200; i++) {
        await vi.advanceTimersByTimeAsync(1)
        if (ended < started.length) await finish(ended++)
      }
      const ids = outcomes.map((outcome) => Number(outcome.split(' ')[0])).toSorted((a, b) => a - b)
      expect(ids).toEqual(requests.map((_, index) => index))
      for (const batch of started) {
        expect(batch.reduce((sum, id) => sum + (requests[Number(id)]?.rows ?? 0), 0)).toBeLessThanOrEqual(4)
      }
      expect([reporter.waiting, scheduler.pending, scheduler.inflight]).toEqual([0, 0, 0])
    }),
    { numRuns: 60 },
  )
})
