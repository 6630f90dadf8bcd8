/**
 * What the dynamic batcher costs: `npm run bench -- scheduler`. Requests go from `enqueue` to their answer through a model
 * that copies nothing, in batches of 8; then with up to 100 000 of them waiting, where time and memory per request must
 * stay flat. CPU of this process, the best of several rounds.
 */
import { completeConfig, parsePbtxt } from '@conch/protocol'
import type { BatchAnswers } from '../src/backend/contract.ts'
import { Pool } from '../src/instance/pool.ts'
import { Metrics } from '../src/observe/metrics.ts'
import { Flight, newTimings } from '../src/request.ts'
import { DynamicScheduler } from '../src/schedule/dynamic.ts'
import { floats, testRequest } from '../src/testing.ts'

const BATCH = 8
const TEXT = `name: "m" backend: "identity" max_batch_size: ${BATCH}
  input { name: "INPUT0" data_type: TYPE_FP32 dims: [ 4 ] }
  output { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 4 ] }`
const FACTS = {
  preferredGroup: { kind: 'KIND_CPU', count: 1 },
  gpus: [],
  directoryName: 'm',
  versionFiles: [],
} as const

/** A schedule over one instance that answers when `finish` says so. */
function setUp(batching: string) {
  const config = completeConfig(parsePbtxt(`${TEXT} ${batching}`).config, FACTS)
  const reporter = new Metrics({ enabled: true, cpu: false, intervalMs: 0, config: {} }).createReporter({
    model: 'm',
    version: '1',
    config,
  })
  const answer = { outputs: [floats('OUTPUT0', [1, 4])] }
  const answers = Array.from({ length: BATCH }, () => answer)
  let finish: (answers: BatchAnswers) => void = () => undefined
  const execute = () => new Promise<BatchAnswers>((resolve) => (finish = resolve))
  const pool = new Pool()
  const findStep = () => {
    throw new Error('no ensemble')
  }
  const scheduler = new DynamicScheduler({ model: 'm', version: '1', config, pool, reporter, findStep })
  pool.add({ name: 'm_0', instance: { execute, close: () => Promise.resolve() } })
  let answered = 0
  const owner = {
    ended: (flight: Flight) => {
      answered += 1
      reporter.request(flight, 'success')
    },
  }
  const request = testRequest('m', [floats('INPUT0', [1, 4])], { id: '1' })
  const chain = ['m']
  const send = () =>
    scheduler.enqueue(
      new Flight(owner, request, { rows: 1, chain, signal: undefined, timings: newTimings(), onResponse: undefined }),
    )
  const step = async () => {
    finish(answers)
    await Promise.resolve()
    await Promise.resolve()
  }
  return { send, step, scheduler, answered: () => answered }
}

const cpu = () => {
  const { user, system } = process.cpuUsage()
  return user + system
}

async function measureBatches(name: string, batching: string): Promise<number> {
  const { send, step, answered } = setUp(batching)
  const rounds: number[] = []
  send()
  for (let round = 0; round < 7; round++) {
    const [before, from] = [cpu(), answered()]
    for (let batch = 0; batch < 20_000; batch++) {
      for (let i = 0; i < BATCH; i++) send()
      await step()
    }
    rounds.push((cpu() - before) / (answered() - from))
  }
  const best = Math.min(...rounds)
  console.log(
    `${name}: ${best.toFixed(2)} µs CPU per request (rounds: ${rounds.map((one) => one.toFixed(2)).join(' ')})`,
  )
  return best
}

/** Microseconds and bytes per request with so many of them waiting; as many requests in all, whatever that is. */
async function measureQueue(waiting: number, batching: string) {
  const { send, step, scheduler } = setUp(batching)
  const sums = { into: 0, out: 0 }
  let bytes = 0
  for (let round = 0; round < ALL / waiting; round++) {
    if (round === 0) globalThis.gc?.()
    const [heap, before] = [process.memoryUsage().heapUsed, cpu()]
    for (let i = 0; i < waiting; i++) send()
    const full = cpu()
    if (round === 0) globalThis.gc?.()
    if (round === 0) bytes = (process.memoryUsage().heapUsed - heap) / waiting
    const between = cpu()
    while (scheduler.inflight > 0) await step()
    sums.into += full - before
    sums.out += cpu() - between
  }
  const [into, out] = [sums.into / ALL, sums.out / ALL]
  console.log(`${waiting} waiting: in ${into.toFixed(2)}, out ${out.toFixed(2)} µs, ${bytes.toFixed(0)} bytes each`)
  return { us: into + out, bytes }
}

/** Rows of the table that `npm run bench` ends with. */
function report(name: string, limit: number, measured: { value: number; unit: string; note: string }): void {
  const { value, unit, note } = measured
  process.send?.({ target: { name, limit, measured: Number(value.toFixed(2)), unit, note } })
}

const MOST = 100_000
const ALL = 4 * MOST
const TIMEOUTS = 'default_queue_policy { default_timeout_microseconds: 60000000 }'
const plain = await measureBatches('batches of 8', 'dynamic_batching { }')
const levels = 'priority_levels: 3 default_priority_level: 2'
await measureBatches('batches of 8, priorities, timeouts', `dynamic_batching { ${levels} ${TIMEOUTS} }`)
report('scheduler, batches of 8', 5, { value: plain, unit: 'µs CPU', note: 'enqueue to answer' })

for (const batching of ['dynamic_batching { }', `dynamic_batching { ${TIMEOUTS} }`]) {
  console.log(batching)
  await measureQueue(10_000, batching)
  const few = await measureQueue(1_000, batching)
  await measureQueue(10_000, batching)
  const many = await measureQueue(MOST, batching)
  report(`100 000 waiting, ${batching.length > 25 ? 'timeouts' : 'plain'}`, 3, {
    value: many.us / few.us,
    unit: '× of 1 000',
    note: `the collector moves what waits long: ${many.us.toFixed(2)} and ${few.us.toFixed(2)} µs, ${many.bytes.toFixed(0)} bytes each`,
  })
}
