import { afterEach, expect, it, vi } from 'vitest'
import { createEngine } from './engine.ts'
import type { EngineOptions, Engine } from './contract.ts'
import { FakeBackend, fakeConfig, floats, makeDirectory, onlyBackends, testOptions, testRequest } from './testing.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

async function setUp(files: Record<string, string>, change: Partial<EngineOptions> = {}) {
  const repository = await makeDirectory(files)
  cleanups.push(repository.remove)
  const backend = new FakeBackend()
  const options = testOptions([repository.directory], change)
  const engine = createEngine(options, { findBackend: onlyBackends(backend) })
  cleanups.push(() => engine.stop(1))
  return { repository, backend, engine, options, lines: options.lines }
}

const state = async (engine: Engine, name: string, version = '1') =>
  (await engine.index(false)).find((entry) => entry.name === name && (entry.version ?? '1') === version)

it('loads, answers, describes and unloads a model', async () => {
  const { engine, lines } = await setUp({ 'm/config.pbtxt': fakeConfig(), 'm/1/model.bin': '' })
  expect(await engine.start()).toBe(true)
  expect(await engine.index(false)).toEqual([{ name: 'm', version: undefined, state: undefined, reason: '' }])
  expect(await engine.index(true)).toEqual([])
  expect(await engine.ready()).toBe(true)
  await engine.load('m')
  expect(await engine.index(true)).toEqual([{ name: 'm', version: '1', state: 'READY', reason: '' }])
  expect(await engine.modelReady('m', '')).toBe(true)
  expect(engine.metadata('m', '')).toEqual({
    name: 'm',
    versions: ['1'],
    platform: 'fake',
    inputs: [{ name: 'IN', datatype: 'FP32', shape: [-1, 4] }],
    outputs: [{ name: 'OUT', datatype: 'FP32', shape: [-1, 4] }],
  })
  const input = floats('IN', [2, 4], 3)
  const response = await engine.infer(testRequest('m', [input], { id: 'x' }))
  expect(response).toEqual({ model: 'm', version: '1', id: 'x', parameters: {}, outputs: [{ ...input, name: 'OUT' }] })
  const [statistics] = engine.statistics('m', '')
  expect(statistics).toMatchObject({
    inference_count: 2,
    execution_count: 1,
    inference_stats: { success: { count: 1 } },
  })
  expect(statistics?.batch_stats).toMatchObject([{ batch_size: 2, compute_infer: { count: 1 } }])
  await engine.unload('m', false)
  await vi.waitFor(async () =>
    expect(await state(engine, 'm')).toMatchObject({ state: 'UNAVAILABLE', reason: 'unloaded' }),
  )
  await expect(engine.infer(testRequest('m', [input]))).rejects.toMatchObject({
    code: 'NOT_FOUND',
    message: "Request for unknown model: 'm' has no available versions",
  })
  expect(lines).toEqual(
    expect.arrayContaining([
      'info loading: m:1',
      "info successfully loaded 'm'",
      "info successfully unloaded 'm' version 1",
    ]),
  )
})

const FILES = { 'm/config.pbtxt': fakeConfig(), 'm/1/a': '' }
const ask = (engine: Engine, change: Parameters<typeof testRequest>[2] = {}) =>
  engine.infer(testRequest('m', [floats('IN', [1, 4], 1)], change))

it('is not ready before its start is over, and is live', async () => {
  const { engine } = await setUp(FILES, { startupModels: ['m'] })
  expect([engine.phase, engine.live(), await engine.ready(), await engine.modelReady('m', '')]).toEqual([
    'starting',
    true,
    false,
    false,
  ])
  await expect(ask(engine)).rejects.toMatchObject({ code: 'UNAVAILABLE', message: 'Server not ready' })
  await engine.start()
  expect([engine.phase, await engine.ready()]).toEqual(['ready', true])
})

it('refuses a repository that is none', async () => {
  const missing = createEngine(testOptions(['/no/such/repository']))
  await expect(missing.start()).rejects.toMatchObject({
    code: 'INTERNAL',
    message: 'failed to stat file /no/such/repository',
  })
  const { repository } = await setUp({ file: '' })
  const file = createEngine(testOptions([`${repository.directory}/file`]))
  await expect(file.start()).rejects.toThrow('repository path is not a valid directory')
})

it('tells unknown models and versions apart', async () => {
  const { engine } = await setUp(FILES, { startupModels: ['m'] })
  await engine.start()
  expect(() => engine.metadata('nope', '')).toThrow("Request for unknown model: 'nope' is not found")
  expect(() => engine.config('m', '7')).toThrow("Request for unknown model: 'm' version 7 is not found")
  expect(() => engine.statistics('nope', '')).toThrow("requested model 'nope' is not available")
  expect(() => engine.statistics('m', '9')).toThrow("requested model version is not available for model 'm'")
  expect(await engine.modelReady('m', '01')).toBe(true)
  expect(engine.statistics('', '').map(({ name, version }) => [name, version])).toEqual([['m', '1']])
})

it('hands out only what was asked for', async () => {
  const config = fakeConfig().replace('output {', 'output { name: "TWO" data_type: TYPE_FP32 dims: [ 4 ] }\noutput {')
  const { engine, backend } = await setUp({ ...FILES, 'm/config.pbtxt': config }, { startupModels: ['m'] })
  await engine.start()
  const wanted: string[][] = []
  backend.execute = (batch) => {
    wanted.push([...batch.outputs])
    return batch.requests.map(() => ({ outputs: [floats('TWO', [1, 4]), floats('OUT', [1, 4])] }))
  }
  const outputs = [{ name: 'OUT', binary: true, classification: 0, region: undefined }]
  expect((await ask(engine, { outputs })).outputs.map(({ name }) => name)).toEqual(['OUT'])
  expect((await ask(engine)).outputs.map(({ name }) => name)).toEqual(['TWO', 'OUT'])
  expect(wanted).toEqual([['OUT'], ['TWO', 'OUT']])
})

it('counts a failure of the backend once and goes on serving', async () => {
  const { engine, backend } = await setUp(FILES, { startupModels: ['m'] })
  await engine.start()
  const plain = backend.execute
  for (const failing of [() => [{ error: new Error('one') }], () => Promise.reject(new Error('two')), () => []]) {
    backend.execute = failing
    await expect(ask(engine)).rejects.toThrow(/one|two|no response/)
  }
  backend.execute = plain
  await ask(engine)
  expect(engine.liveSamples()[0]).toMatchObject({ failures: { BACKEND: 3 }, pending: 0, inflight: 0 })
  expect(engine.statistics('m', '')[0]?.inference_stats).toMatchObject({ success: { count: 1 }, fail: { count: 3 } })
})

it('does not count what it never took', async () => {
  const { engine } = await setUp(FILES, { startupModels: ['m'] })
  await engine.start()
  await expect(engine.infer(testRequest('m', []))).rejects.toMatchObject({ code: 'INVALID_ARG' })
  expect(engine.statistics('m', '')[0]?.inference_stats).toMatchObject({ success: { count: 0 }, fail: { count: 0 } })
})

it('tells a running batch that nobody waits for it', async () => {
  const { engine, backend } = await setUp(
    { ...FILES, 'm/config.pbtxt': fakeConfig('dynamic_batching { }') },
    { startupModels: ['m'] },
  )
  await engine.start()
  const signals: (AbortSignal | undefined)[] = []
  const ends: (() => void)[] = []
  backend.execute = (batch) => {
    signals.push(batch.signal)
    return new Promise((_resolve, reject) => {
      ends.push(() => reject(new Error('ended')))
      batch.signal?.addEventListener('abort', () => reject(new Error('terminated')))
    })
  }
  const clients = [new AbortController(), new AbortController(), new AbortController()]
  const request = testRequest('m', [floats('IN', [1, 4])])
  const answers = clients.map(({ signal }) => engine.infer(request, { signal }).catch((error: Error) => error.message))
  ends[0]?.()
  await answers[0]
  clients[1]?.abort()
  expect(signals[1]?.aborted).toBe(false)
  clients[2]?.abort()
  expect(signals[1]?.aborted).toBe(true)
  expect(await Promise.all(answers)).toEqual(['ended', 'terminated', 'terminated'])
  expect(engine.liveSamples()[0]?.failures).toMatchObject({ BACKEND: 1, CANCELED: 2 })
})

it('cancels a request whose client has gone before it began', async () => {
  const { engine, backend } = await setUp(FILES, { startupModels: ['m'] })
  await engine.start()
  const request = testRequest('m', [floats('IN', [1, 4])])
  await expect(engine.infer(request, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'CANCELLED' })
  expect(backend.calls.some((call) => call.startsWith('execute'))).toBe(false)
})

it('fills the timings that the caller brings', async () => {
  const { engine } = await setUp(FILES, { startupModels: ['m'] })
  await engine.start()
  const timings = {
    start: 0,
    queued: 0,
    computeStart: 0,
    computeInputEnd: 0,
    computeOutputStart: 0,
    computeEnd: 0,
    end: 0,
  }
  await engine.infer(testRequest('m', [floats('IN', [1, 4])]), { timings })
  const stamps = Object.values(timings)
  expect(stamps).toEqual(stamps.toSorted((a, b) => a - b))
  expect(Math.min(...stamps)).toBeGreaterThan(0)
})

it('releases what was loaded when there can be no schedule', async () => {
  const initial = 'initial_state { name: "i" data_type: TYPE_INT32 dims: [ 1 ] data_file: "short" }'
  const state = `state { input_name: "S" output_name: "T" data_type: TYPE_INT32 dims: [ 1 ] ${initial} }`
  const config = fakeConfig(`sequence_batching { ${state} }`)
  const { engine, backend } = await setUp({ ...FILES, 'm/config.pbtxt': config, 'm/initial_state/short': 'no' })
  await engine.start()
  await expect(engine.load('m')).rejects.toThrow(
    'initial_state setting expects 4 bytes, but the data provided from shortonly has 2 bytes',
  )
  expect(backend.calls).toEqual(['load m:1', 'create m_0_0', 'close m_0_0', 'unload m:1'])
  expect(await engine.metricsText()).not.toContain('nv_inference_count')
})

it('loads others while one takes its time, within the limit', async () => {
  const files = Object.fromEntries(
    ['a', 'b', 'c'].flatMap((m) => [
      [`${m}/config.pbtxt`, fakeConfig()],
      [`${m}/1/x`, ''],
    ]),
  )
  const { engine, backend } = await setUp(files, { loadThreads: 2 })
  await engine.start()
  const slow = Promise.withResolvers<void>()
  backend.onLoad = (config) => (config.name === 'a' ? slow.promise : undefined)
  const loading = engine.load('a')
  await engine.load('b')
  await engine.load('c')
  expect(await state(engine, 'a')).toMatchObject({ state: 'LOADING' })
  slow.resolve()
  await loading
})

it('gives everything back after many loads', async () => {
  const { engine, backend } = await setUp(FILES)
  await engine.start()
  for (let i = 0; i < 50; i++) {
    await engine.load('m')
    await engine.unload('m', false)
  }
  await vi.waitFor(() => expect(backend.calls.filter((call) => call === 'unload m:1')).toHaveLength(50))
  expect(backend.calls.filter((call) => call === 'close m_0_0')).toHaveLength(50)
  expect((await engine.metricsText()).split('\n').filter((line) => line.includes('model="m"'))).toHaveLength(4)
})
