import { setTimeout as sleep } from 'node:timers/promises'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { encodeBytes, iterateBytes } from '@conch/protocol'
import type { Tensor } from '@conch/protocol'
import { afterEach, expect, it } from 'vitest'
import type { BackendInstance } from '../contract.ts'
import {
  activeRequest,
  batchOf,
  closeInstances,
  configOf,
  contextOf,
  execute,
  openInstance,
  outputsOf,
  tensor,
} from '../contract.suite.ts'
import { createOnnxBackend } from './backend.ts'

afterEach(closeInstances)

async function open(model: string, text?: string) {
  return openInstance(createOnnxBackend(), await configOf(model, text), contextOf(model))
}

function floats(name: string, shape: readonly number[], values: readonly number[]): Tensor {
  return tensor(name, 'FP32', shape, new Uint8Array(Float32Array.from(values).buffer))
}
function integers(name: string, shape: readonly number[], values: readonly number[]): Tensor {
  return tensor(name, 'INT32', shape, new Uint8Array(Int32Array.from(values).buffer))
}
function longs(name: string, shape: readonly number[], values: readonly number[]): Tensor {
  return tensor(name, 'INT64', shape, new Uint8Array(BigInt64Array.from(values.map(BigInt)).buffer))
}
function numbers({ data, datatype }: Tensor): readonly number[] {
  const bytes = Uint8Array.from(data).buffer
  if (datatype === 'INT64') return [...new BigInt64Array(bytes)].map(Number)
  return [...(datatype === 'INT32' ? new Int32Array(bytes) : new Float32Array(bytes))]
}

async function ask(instance: BackendInstance, inputs: readonly Tensor[], outputs: readonly string[], rows = 1) {
  const answers = await execute(instance, batchOf([activeRequest(inputs, rows)], outputs))
  return outputsOf(answers[0])
}

it('adds and subtracts, on another thread first and inline soon', async () => {
  const { instance } = await open('add_sub')
  const request = activeRequest([
    floats(
      'INPUT0',
      [1, 16],
      Array.from({ length: 16 }, (_, i) => i),
    ),
    floats('INPUT1', [1, 16], new Array<number>(16).fill(1)),
  ])
  const outputs = ['OUTPUT0', 'OUTPUT1']
  const inline: boolean[] = []
  for (let i = 0; i < 500; i++) {
    const running = instance.execute(batchOf([request], outputs))
    inline.push(!(running instanceof Promise))
    const answers = await running
    const [sum, difference] = outputsOf(answers === 'responded' ? undefined : answers[0])
    expect(numbers(sum!)).toEqual(Array.from({ length: 16 }, (_, k) => k + 1))
    expect(numbers(difference!)).toEqual(Array.from({ length: 16 }, (_, k) => k - 1))
  }
  expect(inline.slice(0, 2)).toEqual([false, false])
  expect(inline).toContain(true)
})

it('finds inputs in any order and gives only wanted outputs', async () => {
  const { instance } = await open('add_sub')
  const sixteen = (value: number) => new Array<number>(16).fill(value)
  const inputs = [floats('INPUT1', [1, 16], sixteen(1)), floats('INPUT0', [1, 16], sixteen(5))]
  for (const wanted of [['OUTPUT1'], ['OUTPUT0', 'OUTPUT1'], ['OUTPUT0'], ['OUTPUT1', 'OUTPUT0']]) {
    const outputs = await ask(instance, inputs, wanted)
    expect(outputs.map(({ name }) => name)).toEqual(wanted.toSorted())
    for (const one of outputs) expect(numbers(one)).toEqual(sixteen(one.name === 'OUTPUT0' ? 6 : 4))
  }
})

it('starts afresh after a batch that could not be gathered', async () => {
  const { instance } = await open('add_sub')
  const rows = (count: number, value: number, name: string) =>
    floats(name, [count, 16], new Array<number>(16 * count).fill(value))
  await ask(instance, [rows(1, 1, 'INPUT0'), rows(1, 1, 'INPUT1')], ['OUTPUT0', 'OUTPUT1'])
  const broken = batchOf([activeRequest([rows(2, 1, 'INPUT0')], 2)], ['OUTPUT0', 'OUTPUT1'])
  await expect(async () => execute(instance, broken)).rejects.toThrow("input 'INPUT1' is missing")
  const [sum] = await ask(instance, [rows(2, 2, 'INPUT0'), rows(2, 3, 'INPUT1')], ['OUTPUT0', 'OUTPUT1'], 2)
  expect(sum?.shape).toEqual([2, 16])
  expect(numbers(sum!)).toEqual(new Array<number>(32).fill(5))
})

it('follows shapes that change from batch to batch', async () => {
  const { instance } = await open('shape_n_m')
  for (const [rows, columns] of [
    [1, 3],
    [4, 3],
    [1, 3],
    [2, 30_000],
    [2, 30_000],
    [3, 1],
    [1, 0],
  ] as const) {
    const sent = floats(
      'IN',
      [rows, columns],
      Array.from({ length: rows * columns }, (_, i) => i),
    )
    const [got] = await ask(instance, [sent], ['OUT'], rows)
    expect(got?.shape).toEqual([rows, columns])
    expect(Buffer.compare(got!.data, sent.data)).toBe(0)
  }
})

it('takes outputs whose size only the data decides', async () => {
  const { instance } = await open('nonzero')
  for (const values of [[0, 1, 0, 2], [0, 1, 0, 2], [1, 1, 1, 1], [0, 0, 0, 0], [3]]) {
    const [at, sum] = await ask(instance, [floats('IN', [values.length], values)], ['AT', 'SUM'])
    const places = values.flatMap((value, i) => (value === 0 ? [] : [i]))
    expect(at?.shape).toEqual([1, places.length])
    expect(numbers(at!)).toEqual(places)
    expect(sum?.shape).toEqual([1])
    expect(numbers(sum!)).toEqual([values.reduce((a, b) => a + b, 0)])
  }
})

it('believes what a model makes, not what it declares', async () => {
  const { instance } = await open('reshaped')
  for (const shape of [
    [4, 1],
    [2, 2],
    [1, 4],
    [4, 1],
  ] as const) {
    const [got] = await ask(instance, [floats('IN', [4], [1, 2, 3, 4]), longs('SHAPE', [2], shape)], ['OUT'])
    expect(got?.shape).toEqual(shape)
    expect(numbers(got!)).toEqual([1, 2, 3, 4])
  }
})

it('runs a failing request once more at most and answers the next', async () => {
  const { instance } = await open('reshaped')
  const bad = [floats('IN', [4], [1, 2, 3, 4]), longs('SHAPE', [2], [3, 3])]
  for (let i = 0; i < 20; i++) {
    await expect(ask(instance, bad, ['OUT'])).rejects.toThrow(
      /^onnx runtime error \d+: Non-zero status code returned while running Reshape node/,
    )
    const [got] = await ask(instance, [floats('IN', [4], [1, 2, 3, 4]), longs('SHAPE', [2], [4, 1])], ['OUT'])
    expect(numbers(got!)).toEqual([1, 2, 3, 4])
  }
})

it('refuses an output with fewer rows than the batch', async () => {
  const { instance } = await open('one_row', 'max_batch_size: 4')
  const two = floats('IN', [2, 4], [1, 2, 3, 4, 5, 6, 7, 8])
  const [answer] = await execute(instance, batchOf([activeRequest([two], 2)], ['OUT']))
  expect(() => outputsOf(answer)).toThrow(
    "failed to split the output tensor 'OUT' in responses: expected batch size of at least 2 in model output, got 1",
  )
  const [got] = await ask(instance, [floats('IN', [1, 4], [1, 2, 3, 4])], ['OUT'])
  expect(got?.shape).toEqual([1, 4])
})

it('sees scalars as the config writes them', async () => {
  const { instance } = await open('shape_scalar')
  const [got] = await ask(instance, [floats('IN', [1], [7])], ['OUT'])
  expect(got?.shape).toEqual([1])
  expect(numbers(got!)).toEqual([7])
})

it('reshapes one number per item', async () => {
  const { instance } = await open('per_item_scalar')
  const items = [1, 2].map((rows) =>
    activeRequest([floats('IN', [rows, 4], new Array<number>(4 * rows).fill(rows))], rows),
  )
  const answers = await execute(instance, batchOf(items, ['OUT']))
  expect(answers.map((answer) => outputsOf(answer)[0]?.shape)).toEqual([
    [1, 1],
    [2, 1],
  ])
  expect(answers.map((answer) => numbers(outputsOf(answer)[0]!))).toEqual([[4], [8, 8]])
  const { instance: auto } = await open('shape_n')
  const [got] = await ask(auto, [floats('IN', [3, 1], [1, 2, 3])], ['OUT'], 3)
  expect(got?.shape).toEqual([3, 1])
})

it('joins ragged requests and tells the model their lengths', async () => {
  const { instance } = await open('ragged')
  const lengths = [3, 1, 4]
  const requests = lengths.map((length) =>
    activeRequest([floats('IN', [1, length], new Array<number>(length).fill(length))]),
  )
  const answers = await execute(instance, batchOf(requests, ['OUT', 'COUNTS']))
  for (const [i, answer] of answers.entries()) {
    const [out, counts] = outputsOf(answer)
    expect(out?.shape).toEqual([1, lengths[i]])
    expect(numbers(out!)).toEqual(new Array<number>(lengths[i] ?? 0).fill(2 * (lengths[i] ?? 0)))
    expect(counts?.shape).toEqual([1, 1])
    expect(numbers(counts!)).toEqual([[3], [4], [8]][i])
  }
})

it('uses the initialiser of an input that is left out', async () => {
  const { instance } = await open('overridable')
  const x = floats('IN', [2], [1, 2])
  const k = floats('K', [1], [10])
  for (const [inputs, expected] of [
    [[x], [3, 6]],
    [
      [x, k],
      [10, 20],
    ],
    [[x], [3, 6]],
    [
      [k, x],
      [10, 20],
    ],
  ] as const) {
    expect(numbers((await ask(instance, inputs, ['OUT']))[0]!)).toEqual(expected)
  }
})

it('feeds controls and states that a schedule adds, and gives states back when asked', async () => {
  const { instance } = await open('stateful')
  const inputs = [integers('IN', [1, 1], [5]), integers('STATE_IN', [1, 1], [2]), integers('START', [1, 1], [1])]
  const outputs = await ask(instance, inputs, ['OUT', 'STATE_OUT'])
  expect(outputs.map((one) => [one.name, ...numbers(one)])).toEqual([
    ['OUT', 7],
    ['STATE_OUT', 7],
  ])
})

it('reads weights beside the model', async () => {
  const { instance } = await open('external')
  const [got] = await ask(instance, [floats('IN', [1, 256], new Array<number>(256).fill(2))], ['OUT'])
  expect(numbers(got!)).toEqual(new Array<number>(256).fill(6))
})

it('fills in strings that a broken framing lacks and leaves the others whole', async () => {
  const { instance } = await open('echo_string')
  const whole = encodeBytes(['a', 'b', 'c'])
  const answers = await execute(
    instance,
    batchOf(
      [
        activeRequest([tensor('IN', 'BYTES', [1, 3], whole.subarray(0, 7))]),
        activeRequest([tensor('IN', 'BYTES', [1, 3], whole)]),
      ],
      ['OUT'],
    ),
  )
  const texts = answers.map((answer) =>
    [...iterateBytes(outputsOf(answer)[0]!.data)].map((one) => Buffer.from(one).toString()),
  )
  expect(texts).toEqual([
    ['a', '', ''],
    ['a', 'b', 'c'],
  ])
})

it('answers a request of zero rows beside others', async () => {
  const { instance } = await open('shape_n_4')
  // The original sizes a batch of zero rows like one item.
  const empty = activeRequest([tensor('IN', 'FP32', [0, 4], new Uint8Array(16).fill(9))])
  const full = activeRequest([floats('IN', [1, 4], [1, 2, 3, 4])])
  for (const requests of [
    [empty, full],
    [full, empty],
  ]) {
    const answers = await execute(instance, batchOf(requests, ['OUT']))
    const shapes = answers.map((answer) => outputsOf(answer)[0]?.shape)
    expect(shapes).toEqual(requests.map((request) => request.request.inputs[0]?.shape))
    expect(numbers(outputsOf(answers[requests.indexOf(full)])[0]!)).toEqual([1, 2, 3, 4])
  }
})

const LOOPS = 300

it('keeps the event loop free while a slow model runs', async () => {
  const { instance } = await open('slow')
  const inputs = [floats('IN', [1], [1]), longs('LOOPS', [1], [LOOPS])]
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const ticks = setInterval(() => undefined, 1)
  const running = instance.execute(batchOf([activeRequest(inputs)], ['OUT']))
  expect(running).toBeInstanceOf(Promise)
  await running
  clearInterval(ticks)
  delay.disable()
  // In milliseconds; the machine's own pauses are not the backend's: the median is.
  expect(delay.percentile(50) / 1e6).toBeLessThan(20)
})

it('stops a run that nobody waits for any more', async () => {
  const { instance } = await open('slow')
  const controller = new AbortController()
  const inputs = [floats('IN', [1], [1]), longs('LOOPS', [1], [1_000_000])]
  const started = performance.now()
  const running = execute(instance, batchOf([activeRequest(inputs)], ['OUT'], controller.signal))
  await sleep(20)
  controller.abort()
  await expect(running).rejects.toMatchObject({ code: 'CANCELLED' })
  expect(performance.now() - started).toBeLessThan(30_000)
  const [got] = await ask(instance, [floats('IN', [1], [1]), longs('LOOPS', [1], [1])], ['OUT'])
  expect(got?.shape).toEqual([1])
  const early = execute(instance, batchOf([activeRequest(inputs)], ['OUT'], controller.signal))
  await expect(early).rejects.toMatchObject({ code: 'CANCELLED' })
})

it('ends a run when it is closed', async () => {
  const { instance } = await open('slow')
  const inputs = [floats('IN', [1], [1]), longs('LOOPS', [1], [1_000_000])]
  const running = execute(instance, batchOf([activeRequest(inputs)], ['OUT']))
  const closing = instance.close()
  await expect(running).rejects.toThrow('onnx runtime error')
  await closing
  await expect(async () => execute(instance, batchOf([activeRequest(inputs)], ['OUT']))).rejects.toThrow('closed')
})
