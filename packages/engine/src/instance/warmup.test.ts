import { ConchError, parsePbtxt } from '@conch/protocol'
import { expect, it } from 'vitest'
import type { Batch, BatchAnswers } from '../backend/contract.ts'
import { Metrics } from '../observe/metrics.ts'
import { makeDirectory } from '../testing.ts'
import { warmUp } from './warmup.ts'

interface Change {
  readonly maxBatch?: number
  readonly check?: () => void
  readonly answer?: (batch: Batch) => BatchAnswers
}

async function run(warmup: string, change: Change = {}) {
  const {
    maxBatch = 8,
    check = () => undefined,
    answer = (batch) => batch.requests.map(() => ({ outputs: [] })),
  } = change
  const { config } = parsePbtxt(`name: "m" max_batch_size: ${maxBatch}
    input { name: "IN" data_type: TYPE_FP32 dims: [ 3 ] } output { name: "OUT" data_type: TYPE_FP32 dims: [ 3 ] }
    model_warmup { name: "s" ${warmup} }`)
  const { directory, remove } = await makeDirectory({ 'warmup/d': 'abcd', 'warmup/long': 'x'.repeat(40) })
  const reporter = new Metrics({ enabled: true, cpu: false, intervalMs: 0, config: {} }).createReporter({
    model: 'm',
    version: '1',
    config,
  })
  const batches: Batch[] = []
  const execute = (batch: Batch) => {
    batches.push(batch)
    return answer(batch)
  }
  const slot = { name: 'm_0', instance: { execute, close: () => Promise.resolve() } }
  try {
    await warmUp(slot, { config, directory, reporter, check })
    return { batches, statistics: reporter.statistics }
  } finally {
    await remove()
  }
}
const input = (data: string, dims = '3') =>
  `inputs { key: "IN" value { data_type: TYPE_FP32 dims: [ ${dims} ] ${data} } }`

it('runs count times with batch_size requests, and counts them', async () => {
  const { batches, statistics } = await run(`batch_size: 3 count: 2 ${input('zero_data: true')}`)
  expect(batches.map(({ rows }) => rows)).toEqual([3, 3])
  expect(batches[0]?.requests[0]?.request.inputs[0]).toMatchObject({ shape: [1, 3], data: new Uint8Array(12) })
  expect(statistics).toMatchObject({
    execution_count: 2,
    inference_stats: { success: { count: 6 } },
    batch_stats: [{ batch_size: 3 }],
  })
})

it('skips samples of batch size 0 and cuts long files', async () => {
  expect((await run(`batch_size: 0 ${input('zero_data: true')}`)).batches).toEqual([])
  const { batches } = await run(`batch_size: 1 ${input('input_data_file: "long"')}`, { maxBatch: 0 })
  expect(batches[0]?.requests[0]?.request.inputs[0]).toMatchObject({ shape: [3], data: new Uint8Array(12).fill(120) })
})

it.each([
  [
    `batch_size: 1 ${input('')}`,
    "[request id: <id_unknown>] warmup setting expects input 'IN' to have input_data_type set",
  ],
  [
    `batch_size: 1 ${input('zero_data: true', '-1')}`,
    "warmup setting expects all variable-size dimensions are specified for input 'IN'",
  ],
  [
    `batch_size: 1 ${input('input_data_file: "d"')}`,
    '[request id: <id_unknown>] warmup setting expects 12 bytes, but the data provided from donly has 4 bytes',
  ],
  [
    `batch_size: 1 ${input('input_data_file: "nope"')}`,
    'failed to open text file for read warmup/nope: No such file or directory',
  ],
  [
    `batch_size: 99 ${input('zero_data: true')}`,
    "failed to run warmup sample 's': batch size 99 for 'm_0', max allowed is 8",
  ],
])('refuses %s', async (warmup, message) => {
  await expect(run(warmup)).rejects.toThrow(message)
})

it('says which input of a sample the model does not have', async () => {
  const check = () => {
    throw new ConchError('INVALID_ARG', 'expected 1 inputs but got 0 inputs')
  }
  const typo = 'batch_size: 1 inputs { key: "input" value { data_type: TYPE_FP32 dims: [ 3 ] zero_data: true } }'
  await expect(run(typo, { check })).rejects.toThrow(
    "expected 1 inputs but got 0 inputs (warm-up 's' names the unknown input 'input'; the model's inputs: IN)",
  )
  await expect(run(`batch_size: 1 ${input('zero_data: true')}`, { check })).rejects.toThrow(/got 0 inputs$/)
})

it('lets others have their turn during a long warm-up', async () => {
  let runs = 0
  const finished = run(`batch_size: 1 count: 1000000 ${input('zero_data: true')}`, {
    answer: () => {
      runs += 1
      if (turns > 2) throw new Error('enough')
      return [{ outputs: [] }]
    },
  })
  let turns = 0
  const timer = setInterval(() => (turns += 1), 1)
  await expect(finished).rejects.toThrow('enough')
  clearInterval(timer)
  expect(runs).toBeLessThan(1_000_000)
})

it('fails with what the model says', async () => {
  const answer = (batch: Batch) => batch.requests.map(() => ({ error: new Error('An Error Occurred') }))
  const failing = run(`batch_size: 2 ${input('random_data: true')}`, { answer })
  await expect(failing).rejects.toThrow("failed to run warmup sample 's': An Error Occurred; ")
})
