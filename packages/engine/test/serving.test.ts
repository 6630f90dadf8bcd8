import { afterAll, beforeAll, expect, it } from 'vitest'
import { createEngine } from '../src/index.ts'
import type { Engine } from '../src/index.ts'
import { FIXTURE_MODELS, floats, testOptions, testRequest } from '../src/testing.ts'

let engine: Engine
beforeAll(async () => {
  engine = createEngine(testOptions([FIXTURE_MODELS], { startupModels: ['add_sub', 'identity'] }))
  expect(await engine.start()).toBe(true)
})
afterAll(async () => void (await engine.stop(5)))

const values = (data: Uint8Array) => [
  ...new Float32Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength)),
]
const addSub = (rows: number, a: number, b: number) =>
  engine.infer(testRequest('add_sub', [floats('INPUT0', [rows, 16], a), floats('INPUT1', [rows, 16], b)]))

it.each([1, 8])('adds and subtracts %i rows', async (rows) => {
  const { outputs } = await addSub(rows, 5, 2)
  expect(outputs.map(({ name, shape }) => [name, shape])).toEqual([
    ['OUTPUT0', [rows, 16]],
    ['OUTPUT1', [rows, 16]],
  ])
  const [sum, difference] = outputs
  expect(values(sum?.data ?? new Uint8Array())).toEqual(Array.from({ length: rows * 16 }, () => 7))
  expect(values(difference?.data ?? new Uint8Array())).toEqual(Array.from({ length: rows * 16 }, () => 3))
})

it('keeps answers of many requests at once apart, and their count exact', async () => {
  const before = engine.statistics('add_sub', '')[0]?.inference_stats.success.count ?? 0
  const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => addSub(1 + (i % 3), i, 1)))
  for (const [i, { outputs }] of answers.entries()) expect(values(outputs[0]?.data ?? new Uint8Array())[0]).toBe(i + 1)
  expect(engine.statistics('add_sub', '')[0]?.inference_stats.success.count).toBe(before + 200)
})

it('joins requests that wait and splits their answer', async () => {
  const config = {
    backend: 'onnxruntime',
    max_batch_size: 8,
    input: ['INPUT0', 'INPUT1'].map((name) => ({ name, data_type: 'TYPE_FP32', dims: [16] })),
    output: ['OUTPUT0', 'OUTPUT1'].map((name) => ({ name, data_type: 'TYPE_FP32', dims: [16] })),
    dynamic_batching: { max_queue_delay_microseconds: 20_000 },
    instance_group: [{ kind: 'KIND_CPU', count: 1 }],
  }
  await engine.load('add_sub', { config: JSON.stringify(config) })
  const answers = await Promise.all([1, 2, 3].map((i) => addSub(i, i, 10)))
  for (const [index, { outputs }] of answers.entries()) {
    expect(outputs[0]?.shape).toEqual([index + 1, 16])
    expect(new Set(values(outputs[0]?.data ?? new Uint8Array()))).toEqual(new Set([index + 11]))
  }
  expect(engine.statistics('add_sub', '')[0]?.batch_stats.map(({ batch_size }) => batch_size)).toEqual([6])
})

it('loads every fixture that is in order, and says what is wrong with the others', async () => {
  for (const { name } of await engine.index(false)) {
    const failure: unknown = await engine.load(name).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(failure === undefined || /^(load failed for model|failed to load) '/.test((failure as Error).message)).toBe(
      true,
    )
    expect(String(failure)).not.toContain(FIXTURE_MODELS)
  }
  expect(await engine.modelReady('identity', '')).toBe(true)
})
