import { completeConfig, parsePbtxt } from '@conch/protocol'
import type { InferRequest, Tensor } from '@conch/protocol'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Batch, BatchAnswer, BatchAnswers } from '../../backend/contract.ts'
import { Pool } from '../../instance/pool.ts'
import { Metrics } from '../../observe/metrics.ts'
import { Flight, newTimings } from '../../request.ts'
import { floats, testRequest } from '../../testing.ts'
import { chooseScheduler } from '../choose.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

type Answer = (batch: Batch) => readonly BatchAnswer[]
const empty: Answer = ({ requests }) => requests.map(() => ({ outputs: [] }))

const IO =
  'input { name: "IN" data_type: TYPE_FP32 dims: [ 1 ] } output { name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] }'
const control = (name: string, kind: string, type: string) =>
  `control_input { name: "${name}" control { kind: CONTROL_SEQUENCE_${kind} ${type} } }`
const CONTROLS = [
  control('START', 'START', 'int32_false_true: [ 0, 1 ]'),
  control('END', 'END', 'int32_false_true: [ 0, 1 ]'),
  control('READY', 'READY', 'int32_false_true: [ 0, 1 ]'),
  control('CORRID', 'CORRID', 'data_type: TYPE_UINT64'),
].join('\n')

interface Setting {
  readonly batching?: string
  readonly maxBatch?: number
  readonly instances?: number
  readonly io?: string
  readonly files?: ReadonlyMap<string, Uint8Array>
}

/** A scheduler over instances that work until they are told to end; times are fake milliseconds. */
function setUp({ batching = '', maxBatch = 4, instances = 1, io = IO, files }: Setting = {}) {
  const text = `name: "m" backend: "fake" max_batch_size: ${maxBatch} ${io} sequence_batching { ${batching} ${CONTROLS} }`
  const config = completeConfig(parsePbtxt(text).config, {
    directoryName: 'm',
    versionFiles: [],
    preferredGroup: { kind: 'KIND_CPU', count: 1 },
    gpus: [],
  })
  const pool = new Pool()
  const metrics = new Metrics({ enabled: true, cpu: false, intervalMs: 0, config: {} })
  const reporter = metrics.createReporter({ model: 'm', version: '1', config })
  /** What ran, `instance: row row …`; a row is `id` and its controls, a place that is only filled is `-`. */
  const started: string[] = []
  const batches: { batch: Batch; end: (answer: Answer) => void; fail: (error: Error) => void }[] = []
  const lines: string[] = []
  const addInstance = (name: string) => {
    const execute = (batch: Batch): Promise<BatchAnswers> => {
      started.push(`${name}: ${batch.requests.map(({ request }) => printRow(request)).join(' ')}`)
      const { promise, resolve, reject } = Promise.withResolvers<BatchAnswers>()
      batches.push({ batch, end: (answer) => resolve(answer(batch)), fail: reject })
      return promise
    }
    const slot = { name, instance: { execute, close: () => Promise.resolve() } }
    pool.add(slot)
    return slot
  }
  const slots = Array.from({ length: instances }, (_, index) => addInstance(`m_${index}`))
  const findStep = () => {
    throw new Error('no ensemble')
  }
  const log = { write: (level: string, line: string) => void lines.push(`${level} ${line}`) }
  const parts = { model: 'm', version: '1', config, pool, reporter, findStep, log, initialStates: files }
  const scheduler = chooseScheduler(parts)
  const outcomes: string[] = []
  const send = (
    id: string,
    flags: string,
    change: Partial<InferRequest> & { signal?: AbortSignal; width?: number } = {},
  ) => {
    const { signal, width = 1, ...rest } = change
    const sequenceId = /^\d+$/.test(id.slice(1)) ? BigInt(id.slice(1)) : id
    const request = testRequest('m', [floats('IN', [1, width])], {
      id,
      sequenceId,
      sequenceStart: flags.includes('S'),
      sequenceEnd: flags.includes('E'),
      ...rest,
    })
    const name = `${id}${flags}`
    const owner = { ended: (_: Flight, outcome: string) => void outcomes.push(`${name} ${outcome}`) }
    const timings = { ...newTimings(), start: performance.now() }
    const flight = new Flight(owner, request, { rows: 1, chain: ['m'], signal, timings, onResponse: undefined })
    const end = flight.wait()
    end.catch(() => undefined)
    try {
      scheduler.enqueue(flight)
    } catch (error) {
      flight.fail(error, 'rejected')
    }
    return end
  }
  const flush = () => vi.advanceTimersByTimeAsync(0)
  const finish = async (answer: Answer = empty) => {
    batches.shift()?.end(answer)
    await flush()
  }
  const failBatch = async (error: Error) => {
    batches.shift()?.fail(error)
    await flush()
  }
  return {
    scheduler,
    pool,
    slots,
    reporter,
    started,
    batches,
    outcomes,
    lines,
    send,
    finish,
    failBatch,
    flush,
    addInstance,
  }
}

function readInt({ inputs }: InferRequest, name: string): number {
  const data = inputs.find((input) => input.name === name)?.data ?? new Uint8Array(4)
  return new DataView(data.buffer, data.byteOffset).getInt32(0, true)
}

function printRow(request: InferRequest): string {
  if (readInt(request, 'READY') === 0) return '-'
  const flags = (readInt(request, 'START') === 1 ? 'S' : '') + (readInt(request, 'END') === 1 ? 'E' : '')
  return `${request.id}${flags}`
}

const ints = (tensors: readonly Tensor[], name: string) =>
  Array.from(new Int32Array(tensors.find((tensor) => tensor.name === name)?.data.slice().buffer ?? new ArrayBuffer(0)))

it('tells a model where in its sequence each request is', async () => {
  const { send, finish, started, batches, outcomes } = setUp({ maxBatch: 1 })
  void send('a7', 'S')
  expect(batches[0]?.batch.requests[0]?.request.inputs.map(({ name, shape }) => [name, shape])).toEqual([
    ['IN', [1, 1]],
    ['START', [1, 1]],
    ['END', [1, 1]],
    ['READY', [1, 1]],
    ['CORRID', [1, 1]],
  ])
  expect(ints(batches[0]?.batch.requests[0]?.request.inputs ?? [], 'CORRID')).toEqual([7, 0])
  await finish()
  void send('a7', '')
  await finish()
  void send('a7', 'E')
  await finish()
  void send('b8', 'SE')
  await finish()
  expect(started).toEqual(['m_0: a7S', 'm_0: a7', 'm_0: a7E', 'm_0: b8SE'])
  expect(outcomes).toEqual(['a7S success', 'a7 success', 'a7E success', 'b8SE success'])
})

it('fills places of sequences that have nothing to run, and counts only what is real', async () => {
  const { send, finish, started, reporter } = setUp()
  for (const id of ['a1', 'b2', 'c3']) void send(id, 'S')
  await finish()
  await finish()
  void send('c3', '')
  await finish()
  void send('a1', 'E')
  void send('c3', 'E')
  await finish()
  await finish()
  expect(started).toEqual(['m_0: a1S', 'm_0: - b2S c3S', 'm_0: - - c3', 'm_0: a1E', 'm_0: - - c3E'])
  expect(reporter.statistics).toMatchObject({ execution_count: 5, batch_stats: [{ batch_size: 1 }, { batch_size: 3 }] })
  expect(reporter.waiting).toBe(0)
})

it('fills instances evenly and keeps a sequence where it is', async () => {
  const { send, finish, started, scheduler } = setUp({ maxBatch: 2, instances: 2 })
  for (const id of ['a1', 'b2', 'c3', 'd4']) void send(id, 'S')
  for (let i = 0; i < 4; i++) await finish()
  for (const id of ['d4', 'b2']) void send(id, '')
  expect(started).toEqual(['m_0: a1S', 'm_1: b2S', 'm_0: - c3S', 'm_1: - d4S', 'm_1: - d4', 'm_1: b2'].slice(0, 5))
  expect(scheduler.inspectSlots?.()).toMatchObject({
    strategy: 'direct',
    maxIdle: 1_000,
    instances: [
      { name: 'm_0', slots: [{ sequence: '1' }, { sequence: '3' }] },
      {
        name: 'm_1',
        slots: [
          { sequence: '2', waiting: 1 },
          { sequence: '4', running: true, served: 2 },
        ],
      },
    ],
  })
})

it('lets sequences without a slot wait, first come first served, with all they have', async () => {
  const { send, finish, started, scheduler } = setUp({ maxBatch: 1 })
  void send('a1', 'S')
  void send('b2', 'S')
  void send('c3', 'SE')
  void send('b2', 'E')
  await finish()
  expect([scheduler.pending, scheduler.inspectSlots?.().backlogSize]).toEqual([3, 2])
  void send('a1', 'E')
  for (let i = 0; i < 4; i++) await finish()
  expect(started).toEqual(['m_0: a1S', 'm_0: a1E', 'm_0: b2S', 'm_0: b2E', 'm_0: c3SE'])
  expect(scheduler.inflight).toBe(0)
})

it('waits for enough slots or for the delay', async () => {
  const batching = 'direct { max_queue_delay_microseconds: 800000 minimum_slot_utilization: 0.5 }'
  const { send, finish, started } = setUp({ batching })
  void send('a1', 'S')
  await vi.advanceTimersByTimeAsync(400)
  expect(started).toEqual([])
  void send('b2', 'S')
  expect(started).toEqual(['m_0: a1S b2S'])
  await finish()
  void send('b2', '')
  await vi.advanceTimersByTimeAsync(799)
  expect(started).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(started).toEqual(['m_0: a1S b2S', 'm_0: - b2'])
})

it('runs other shapes in other batches, the one that waited longest first', async () => {
  const io = IO.replaceAll('dims: [ 1 ]', 'dims: [ -1 ]')
  const { send, finish, started } = setUp({ io })
  void send('a1', 'S')
  void send('b2', 'S', { width: 2 })
  void send('a1', '', { width: 3 })
  void send('c3', 'S', { width: 2 })
  for (let i = 0; i < 3; i++) await finish()
  expect(started).toEqual(['m_0: a1S', 'm_0: - b2S c3S', 'm_0: a1'])
})

it('joins what waits in batches of the oldest, one request of a sequence at a time', async () => {
  const batching =
    'oldest { max_candidate_sequences: 4 preferred_batch_size: [ 2 ] max_queue_delay_microseconds: 300000 }'
  const { send, finish, started } = setUp({ batching })
  void send('a1', 'S')
  void send('a1', '')
  await vi.advanceTimersByTimeAsync(299)
  expect(started).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(started).toEqual(['m_0: a1S'])
  void send('b2', 'S')
  void send('c3', 'S')
  await vi.advanceTimersByTimeAsync(1)
  await finish()
  expect(started).toEqual(['m_0: a1S', 'm_0: b2S c3S'])
  void send('c3', '')
  await finish()
  expect(started[2]).toBe('m_0: a1 c3')
})

it.each(['direct { }', 'oldest { }'])('ends sequences that fall silent: %s', async (batching) => {
  const { send, finish, started, scheduler } = setUp({
    maxBatch: 1,
    batching: `${batching} max_sequence_idle_microseconds: 400000`,
  })
  void send('a1', 'S')
  await finish()
  void send('b2', 'SE')
  await vi.advanceTimersByTimeAsync(399)
  expect(started).toEqual(['m_0: a1S'])
  await vi.advanceTimersByTimeAsync(1)
  await finish()
  expect(started).toEqual(['m_0: a1S', 'm_0: b2SE'])
  await expect(send('a1', '')).rejects.toMatchObject({
    code: 'INVALID_ARG',
    message:
      "inference request for sequence 1 to model 'm' must specify the START flag on the first request of the sequence",
  })
  expect([scheduler.inflight, vi.getTimerCount()]).toEqual([0, 0])
})

it('refuses what no sequence can be', async () => {
  const { send, lines, finish } = setUp()
  for (const id of [0n, '']) {
    await expect(send('x', 'S', { sequenceId: id })).rejects.toThrow(
      "inference request to model 'm' must specify a non-zero or non-empty correlation ID",
    )
  }
  await expect(send('x', '', { sequenceId: 'abc' })).rejects.toThrow(
    "inference request for sequence abc to model 'm' must",
  )
  void send('a9', 'S')
  await finish()
  void send('a9', 'S')
  expect(lines).toEqual([
    "warning sequence 9 for model 'm' has a conflict. The previous sequence did not end before this sequence start. Previous sequence will be terminated early.",
  ])
})

it('a text and a number are different sequences', async () => {
  const { send, finish, started } = setUp({ batching: 'oldest { }' })
  void send('a5', 'S')
  await finish()
  void send('b5', 'S', { sequenceId: '5' })
  await finish()
  await expect(send('c', '', { sequenceId: '6' })).rejects.toThrow('for sequence 6')
  expect(started).toEqual(['m_0: a5S', 'm_0: b5S'])
})

it('refuses a whole sequence that waited longer than one of its requests allows', async () => {
  const { send, finish, started, outcomes } = setUp({ maxBatch: 1 })
  void send('a1', 'S')
  await finish()
  const first = send('b2', 'S')
  const second = send('b2', '', { timeout: 300_000 })
  await vi.advanceTimersByTimeAsync(299)
  expect(outcomes).toEqual(['a1S success'])
  await vi.advanceTimersByTimeAsync(1)
  for (const end of [first, second]) {
    await expect(end).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'timeout of the corresponding sequence has been expired',
    })
  }
  await expect(send('b2', '')).rejects.toThrow('START flag')
  expect(started).toEqual(['m_0: a1S'])
})

it.each(['direct { }', 'oldest { }'])('frees the slot of a sequence whose client has gone: %s', async (batching) => {
  const { send, finish, started, outcomes, reporter } = setUp({ maxBatch: 1, batching })
  const client = new AbortController()
  void send('a1', 'S')
  void send('a1', '')
  void send('a1', '', { signal: client.signal, id: 'gone' })
  void send('a1', 'E')
  void send('b2', 'SE')
  client.abort()
  await finish()
  await finish()
  await finish()
  expect(started).toEqual(['m_0: a1S', 'm_0: a1', 'm_0: b2SE'])
  expect(outcomes).toEqual(['a1 cancelled', 'a1E cancelled', 'a1S success', 'a1 success', 'b2SE success'])
  await expect(send('a1', '')).rejects.toThrow('START flag')
  expect(reporter.waiting).toBe(0)
})

it('forgets a sequence that waits for a slot when a client of it has gone', async () => {
  const { send, finish, started, outcomes } = setUp({ maxBatch: 1 })
  const client = new AbortController()
  void send('a1', 'S')
  void send('b2', 'S')
  void send('b2', 'E', { signal: client.signal })
  void send('c3', 'SE')
  client.abort()
  expect(outcomes).toEqual(['b2S cancelled', 'b2E cancelled'])
  await finish()
  void send('a1', 'E')
  await finish()
  await finish()
  expect(started).toEqual(['m_0: a1S', 'm_0: a1E', 'm_0: c3SE'])
})

it('ends a sequence whose running request was cancelled', async () => {
  const { send, failBatch, finish, started, outcomes } = setUp({ maxBatch: 1 })
  const client = new AbortController()
  void send('a1', 'S', { signal: client.signal })
  void send('a1', '')
  void send('b2', 'SE')
  client.abort()
  await failBatch(new Error('terminated'))
  await finish()
  expect(started).toEqual(['m_0: a1S', 'm_0: b2SE'])
  expect(outcomes).toEqual(['a1S cancelled', 'a1 cancelled', 'b2SE success'])
})

it('goes on with a sequence after one of its requests failed', async () => {
  const { send, finish, failBatch, outcomes } = setUp({ maxBatch: 1 })
  void send('a1', 'S')
  void send('a1', '')
  void send('a1', 'E')
  await finish()
  await failBatch(new Error('oh'))
  await finish()
  expect(outcomes).toEqual(['a1S success', 'a1 backend', 'a1E success'])
})

const STATE = 'state { input_name: "S" output_name: "T" data_type: TYPE_INT32 dims: [ 1 ] }'
/** T = S + the number of requests so far; OUT = the same. */
const sum: Answer = ({ requests }) =>
  requests.map(({ request }) => {
    const data = new Uint8Array(Int32Array.of(readInt(request, 'S') + 1).buffer)
    const make = (name: string): Tensor => ({ name, datatype: 'INT32', shape: [1, 1], data })
    return { outputs: [make('OUT'), make('T')] }
  })

it('keeps the state of every sequence to itself and starts anew with START', async () => {
  const { send, finish, batches } = setUp({ batching: STATE })
  const values: number[] = []
  const ask = async (id: string, flags: string) => {
    const end = send(id, flags)
    expect([...(batches[0]?.batch.outputs ?? [])]).toEqual(['OUT', 'T'])
    await finish(sum)
    const response = await end
    expect(response?.outputs.map(({ name }) => name)).toEqual(['OUT'])
    values.push(...ints(response?.outputs ?? [], 'OUT'))
  }
  for (const [id, flags] of [
    ['a1', 'S'],
    ['b2', 'S'],
    ['a1', ''],
    ['a1', ''],
    ['b2', 'E'],
    ['a1', 'S'],
    ['a1', 'E'],
  ] as const)
    await ask(id, flags)
  expect(values).toEqual([1, 1, 2, 3, 2, 1, 2])
})

it('starts states with a file, and hides them when a client names its outputs', async () => {
  const initial = 'initial_state { name: "i" data_type: TYPE_INT32 dims: [ 1 ] data_file: "f" }'
  const files = new Map([['f', new Uint8Array(Int32Array.of(100).buffer)]])
  const { send, finish } = setUp({ batching: STATE.replace('dims: [ 1 ]', `dims: [ 1 ] ${initial}`), files })
  const outputs = [{ name: 'OUT', binary: true, classification: 0, region: undefined }]
  const end = send('a1', 'SE', { outputs })
  await finish(sum)
  const response = await end
  expect(response?.outputs.map(({ name }) => name)).toEqual(['OUT'])
  expect(ints(response?.outputs ?? [], 'OUT')).toEqual([101])
})

it('says which initial state is too short', () => {
  const initial = 'initial_state { name: "i" data_type: TYPE_INT32 dims: [ 1 ] data_file: "f" }'
  const files = new Map([['f', new Uint8Array(2)]])
  expect(() => setUp({ batching: STATE.replace('dims: [ 1 ]', `dims: [ 1 ] ${initial}`), files })).toThrow(
    'initial_state setting expects 4 bytes, but the data provided from fonly has 2 bytes',
  )
})

it('lets states grow, and joins only those of one shape', async () => {
  const { send, finish, started, batches } = setUp({ batching: STATE.replace('dims: [ 1 ]', 'dims: [ -1 ]') })
  const grow: Answer = ({ requests }) =>
    requests.map(({ request }) => {
      const before = request.inputs.find(({ name }) => name === 'S')?.shape[1] ?? 0
      const data = new Uint8Array(4 * (before + 1))
      return { outputs: [{ name: 'T', datatype: 'INT32', shape: [1, before + 1], data }] }
    })
  void send('a1', 'S')
  await finish(grow)
  void send('a1', '')
  void send('b2', 'S')
  await finish(grow)
  expect(
    batches[0]?.batch.requests.map(({ request }) => request.inputs.find(({ name }) => name === 'S')?.shape),
  ).toEqual([
    [1, 1],
    [1, 1],
  ])
  await finish(grow)
  expect(started).toEqual(['m_0: a1S', 'm_0: a1', 'm_0: - b2S'])
})

const ITERATIVE = 'iterative_sequence: true oldest { max_candidate_sequences: 1 }'

it('runs a request again until its model is content, and gives its slot to the next one then', async () => {
  const { send, finish, started, batches, outcomes } = setUp({ batching: ITERATIVE })
  void send('x', '', { sequenceId: 0n })
  void send('y', '', { sequenceId: 0n })
  const flags = () =>
    batches[0]?.batch.requests.map(({ request: { sequenceId, sequenceStart } }) => [sequenceId, sequenceStart])
  expect(flags()).toEqual([[1n, true]])
  await finish(() => ['again'])
  expect(flags()).toEqual([[1n, false]])
  await finish(() => ['again'])
  await finish()
  expect(flags()).toEqual([[2n, true]])
  await finish()
  expect(started).toEqual(['m_0: xS', 'm_0: x', 'm_0: x', 'm_0: yS'])
  expect(outcomes).toEqual(['x success', 'y success'])
})

it('keeps the order of a sequence when a request is put back', async () => {
  const { send, finish, started } = setUp({ batching: ITERATIVE })
  void send('a1', 'S')
  void send('a1', 'E')
  await finish(() => ['again'])
  await finish()
  await finish()
  expect(started).toEqual(['m_0: a1S', 'm_0: a1', 'm_0: a1E'])
})

it('refuses to run a request again whose sequence has fallen silent meanwhile', async () => {
  const { send, finish, scheduler } = setUp({ batching: `${ITERATIVE} max_sequence_idle_microseconds: 100000` })
  const end = send('x', '', { sequenceId: 0n })
  await vi.advanceTimersByTimeAsync(150)
  await finish(() => ['again'])
  await expect(end).rejects.toThrow("inference request for sequence 1 to model 'm' must specify the START flag")
  expect(scheduler.inflight).toBe(0)
})

it('refuses a model that puts requests back without being iterative', async () => {
  const { send, finish } = setUp()
  const end = send('a1', 'S')
  await finish(() => ['again'])
  await expect(end).rejects.toThrow('Request is released with TRITONSERVER_REQUEST_RELEASE_RESCHEDULE')
})

it('lets what has begun end while it stops, and refuses beginnings', async () => {
  const { scheduler, send, finish, outcomes } = setUp({ maxBatch: 1 })
  void send('a1', 'S')
  let stopped = false
  const stop = scheduler.stop().then(() => (stopped = true))
  await expect(send('b2', 'S')).rejects.toThrow('Server is stopping, scheduler for model has stopped accepting')
  void send('a1', '')
  await finish()
  expect(stopped).toBe(false)
  await finish()
  await stop
  expect(outcomes).toEqual(['b2S rejected', 'a1S success', 'a1 success'])
  expect(vi.getTimerCount()).toBe(0)
})

it('takes up new instances and lets one go when its sequences have ended', async () => {
  const { pool, slots, send, finish, started, addInstance } = setUp({ maxBatch: 1, instances: 1 })
  void send('a1', 'S')
  void send('b2', 'S')
  await finish()
  addInstance('n_0')
  await finish()
  let gone = false
  const [old] = slots
  const removed = old && pool.remove(old).then(() => (gone = true))
  void send('a1', 'E')
  void send('c3', 'SE')
  await finish()
  await removed
  expect(gone).toBe(true)
  void send('b2', 'E')
  await finish()
  await finish()
  expect(started).toEqual(['m_0: a1S', 'n_0: b2S', 'm_0: a1E', 'n_0: b2E', 'n_0: c3SE'])
})
