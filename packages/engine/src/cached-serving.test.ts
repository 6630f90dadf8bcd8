import type { InferResponse, Tensor } from '@conch/protocol'
import { afterEach, expect, it } from 'vitest'
import type { Batch, BatchAnswers } from './backend/contract.ts'
import type { Engine, EngineOptions } from './contract.ts'
import { createEngine } from './engine.ts'
import {
  copyInputs,
  FakeBackend,
  fakeConfig,
  floats,
  makeDirectory,
  onlyBackends,
  testOptions,
  testRequest,
} from './testing.ts'

const CACHE = { name: 'local', settings: { size: '1000000' } }
const ENABLED = 'response_cache { enable: true }'
const ended: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const end of ended.splice(0)) await end()
})

async function serve(models: Readonly<Record<string, string>>, change: Partial<EngineOptions> = {}) {
  const files = Object.entries(models).flatMap(([name, config]) => [
    [`${name}/config.pbtxt`, config],
    [`${name}/1/model.bin`, ''],
  ])
  const repository = await makeDirectory(Object.fromEntries(files) as Record<string, string>)
  const backend = new FakeBackend()
  const options = testOptions([repository.directory], { startupModels: ['*'], cache: CACHE, ...change })
  const engine = createEngine(options, { findBackend: onlyBackends(backend) })
  ended.push(() => engine.stop(), repository.remove)
  expect(await engine.start()).toBe(true)
  return { engine, backend, repository, options }
}

const ask = (engine: Engine, value: number, model = 'm', change: object = {}) =>
  engine.infer(testRequest(model, [floats('IN', [1, 4], value)], change))
const runs = (backend: FakeBackend) => backend.calls.filter((call) => call.startsWith('execute')).length
const read = ({ outputs }: InferResponse) => new Float32Array((outputs[0] as Tensor).data.slice().buffer)[0]

it('counts hits and misses as the original does', async () => {
  const { engine, backend } = await serve({ m: fakeConfig(ENABLED), plain: fakeConfig() })
  for (const value of [1, 1, 1, 2]) expect(read(await ask(engine, value))).toBe(value)
  await ask(engine, 1, 'plain')
  await ask(engine, 1, 'plain')
  expect(runs(backend)).toBe(4)
  const [statistics] = engine.statistics('m', '1')
  expect(statistics).toMatchObject({ inference_count: 2, execution_count: 2 })
  expect(statistics?.inference_stats).toMatchObject({
    success: { count: 4 },
    queue: { count: 4 },
    compute_infer: { count: 2 },
    cache_hit: { count: 2 },
    cache_miss: { count: 2 },
    fail: { count: 0 },
  })
  const lines = (await engine.metricsText()).split('\n').filter((line) => line.startsWith('nv_cache'))
  expect(
    lines.filter((line) => line.includes('{')).map((line) => line.replace(/duration(.*) \d+$/, 'duration$1 N')),
  ).toEqual([
    'nv_cache_num_hits_per_model{model="m",version="1"} 2',
    'nv_cache_hit_duration_per_model{model="m",version="1"} N',
    'nv_cache_num_misses_per_model{model="m",version="1"} 2',
    'nv_cache_miss_duration_per_model{model="m",version="1"} N',
  ])
  expect(lines).toEqual(
    expect.arrayContaining(['nv_cache_num_entries 2', 'nv_cache_num_lookups 4', 'nv_cache_num_hits 2']),
  )
})

it('sums up durations of requests that the cache served instead of the summary of all', async () => {
  const metrics = { enabled: true, cpu: false, gpu: false, intervalMs: 0, config: { summary_latencies: 'true' } }
  const { engine } = await serve({ m: fakeConfig(ENABLED), plain: fakeConfig() }, { metrics })
  for (const model of ['m', 'm', 'plain']) await ask(engine, 1, model)
  const counts = (await engine.metricsText())
    .split('\n')
    .filter((line) => line.includes('_count{') && line.includes('summary'))
  expect(counts.filter((line) => /request_summary|cache/.test(line))).toEqual([
    'nv_inference_request_summary_us_count{model="plain",version="1"} 1',
    'nv_cache_hit_summary_per_model_count{model="m",version="1"} 1',
    'nv_cache_miss_summary_per_model_count{model="m",version="1"} 1',
  ])
})

it('is no cache without the flag', async () => {
  const { engine, backend } = await serve({ m: fakeConfig(ENABLED) }, { cache: undefined })
  await ask(engine, 1)
  await ask(engine, 1)
  expect(runs(backend)).toBe(2)
  expect(await engine.metricsText()).not.toContain('nv_cache')
})

it('forgets with the version: after a reload everything runs again', async () => {
  const { engine, backend } = await serve({ m: fakeConfig(ENABLED) })
  await ask(engine, 1)
  await engine.unload('m', false)
  await engine.load('m')
  await ask(engine, 1)
  expect(runs(backend)).toBe(2)
  await engine.unload('m', false)
  await expect.poll(() => engine.metricsText(), { timeout: 5_000 }).toContain('nv_cache_num_entries 0')
})

it('knows that an ensemble answers with what its steps are now', async () => {
  const ensemble = `platform: "ensemble" max_batch_size: 8
    input { name: "IN" data_type: TYPE_FP32 dims: [ 4 ] } output { name: "OUT" data_type: TYPE_FP32 dims: [ 4 ] } ${ENABLED}
    ensemble_scheduling { step { model_name: "m" model_version: -1
      input_map { key: "IN" value: "IN" } output_map { key: "OUT" value: "OUT" } } }`
  const { engine, backend } = await serve({ m: fakeConfig(), e: ensemble })
  await ask(engine, 1, 'e')
  await ask(engine, 1, 'e')
  expect(runs(backend)).toBe(1)
  await engine.load('m', {
    config: JSON.stringify({
      backend: 'fake',
      max_batch_size: 8,
      parameters: { x: { string_value: 'y' } },
      input: [{ name: 'IN', data_type: 'TYPE_FP32', dims: [4] }],
      output: [{ name: 'OUT', data_type: 'TYPE_FP32', dims: [4] }],
    }),
  })
  await ask(engine, 1, 'e')
  expect(runs(backend)).toBe(2)
})

it('keeps the order of answers where that is promised', async () => {
  const { engine, backend } = await serve({ m: fakeConfig(`${ENABLED} dynamic_batching { preserve_ordering: true }`) })
  await ask(engine, 1)
  const slow = Promise.withResolvers<void>()
  backend.execute = async (batch: Batch, config): Promise<BatchAnswers> => {
    await slow.promise
    return copyInputs(batch, config)
  }
  const order: string[] = []
  const first = ask(engine, 2).then(() => order.push('ran'))
  const hit = ask(engine, 1).then(() => order.push('hit'))
  await new Promise((resolve) => setImmediate(resolve))
  expect(order).toEqual([])
  slow.resolve()
  await Promise.all([first, hit])
  expect(order).toEqual(['ran', 'hit'])
})

it('gives hits although the queue is full', async () => {
  const { engine, backend } = await serve({
    m: fakeConfig(`${ENABLED} dynamic_batching { default_queue_policy { max_queue_size: 1 } }`, '4', 1),
  })
  await ask(engine, 1)
  const slow = Promise.withResolvers<void>()
  backend.execute = async (batch: Batch, config): Promise<BatchAnswers> => {
    await slow.promise
    return copyInputs(batch, config)
  }
  const waiting = [ask(engine, 2), ask(engine, 3)]
  await expect(ask(engine, 4)).rejects.toThrow('Exceeds maximum queue size')
  expect(read(await ask(engine, 1))).toBe(1)
  slow.resolve()
  await Promise.all(waiting)
})

it('limits rates over models', async () => {
  const limited = (priority: number) =>
    fakeConfig().replace('count: 1', `count: 1 rate_limiter { resources { name: "R" count: 1 } priority: ${priority} }`)
  const { engine, backend } = await serve({ a: limited(1), b: limited(2) }, { rateLimit: 'execution_count' })
  let running = 0
  const order: string[] = []
  backend.execute = async (batch, config) => {
    running += 1
    expect(running).toBe(1)
    order.push(config.name)
    await new Promise((resolve) => setImmediate(resolve))
    running -= 1
    return copyInputs(batch, config)
  }
  const asked = ['a', 'b'].flatMap((model) => Array.from({ length: 6 }, (_, i) => ask(engine, i, model)))
  await Promise.all(asked)
  expect(order.join('')).toBe('aabaabaabbbb')
})

it('refuses a model whose instances could never run', async () => {
  const hungry = fakeConfig().replace('count: 1', 'count: 1 rate_limiter { resources { name: "R" count: 3 } }')
  const repository = await makeDirectory({ 'm/config.pbtxt': hungry, 'm/1/model.bin': '' })
  const options = testOptions([repository.directory], {
    rateLimit: 'execution_count',
    rateLimitResources: [{ name: 'R', count: 2, device: undefined }],
  })
  const engine = createEngine(options, { findBackend: onlyBackends(new FakeBackend()) })
  ended.push(() => engine.stop(), repository.remove)
  await engine.start()
  await expect(engine.load('m')).rejects.toThrow(
    'Resource count for "R" is limited to 2 which will prevent scheduling of one or more model instances, the minimum required count is 3',
  )
})
