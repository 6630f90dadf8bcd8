import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { ConchError } from '@conch/protocol'
import { afterEach, expect, it, vi } from 'vitest'
import type { Engine, EngineOptions } from './contract.ts'
import { createEngine } from './engine.ts'
import { FakeBackend, fakeConfig, floats, makeDirectory, onlyBackends, testOptions, testRequest } from './testing.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

const tensor = (kind: string, name: string, dims = '4', type = 'FP32') =>
  `${kind} { name: "${name}" data_type: TYPE_${type} dims: [ ${dims} ] }\n`
const step = (model: string, inputs: Record<string, string>, outputs: Record<string, string>, version = -1) =>
  `step { model_name: "${model}" model_version: ${version}
    ${Object.entries(inputs)
      .map(([a, b]) => `input_map { key: "${a}" value: "${b}" }`)
      .join(' ')}
    ${Object.entries(outputs)
      .map(([a, b]) => `output_map { key: "${a}" value: "${b}" }`)
      .join(' ')} }\n`
const ensemble = (steps: string, change: { inputs?: string; outputs?: string; maxBatch?: number } = {}) =>
  `platform: "ensemble" max_batch_size: ${change.maxBatch ?? 8}
  ${change.inputs ?? tensor('input', 'X')} ${change.outputs ?? tensor('output', 'Y')} ensemble_scheduling { ${steps} }`
const PAIR = fakeConfig()
  .replace('input {', `${tensor('input', 'IN2')}input {`)
  .replace('output {', `${tensor('output', 'OUT2')}output {`)
/** X goes to a and b, both go into c. */
const FAN = ensemble(
  step('a', { IN: 'X' }, { OUT: 'one' }) +
    step('b', { IN: 'X' }, { OUT: 'two' }) +
    step('pair', { IN: 'one', IN2: 'two' }, { OUT: 'Y', OUT2: 'Z' }),
  { outputs: tensor('output', 'Y') + tensor('output', 'Z') },
)
const MODELS = {
  'a/config.pbtxt': fakeConfig(),
  'a/1/x': '',
  'b/config.pbtxt': fakeConfig(),
  'b/1/x': '',
  'pair/config.pbtxt': PAIR,
  'pair/1/x': '',
  'fan/config.pbtxt': FAN,
  'fan/1/': '',
}

async function setUp(files: Record<string, string> = {}, change: Partial<EngineOptions> = {}) {
  const repository = await makeDirectory({ ...MODELS, ...files })
  cleanups.push(repository.remove)
  const backend = new FakeBackend()
  const options = testOptions([repository.directory], change)
  const engine = createEngine(options, { findBackend: onlyBackends(backend) })
  cleanups.push(() => engine.stop(1))
  await engine.start()
  return { repository, backend, engine, lines: options.lines }
}

const ready = async (engine: Engine) => {
  const names = ['fan', 'a', 'b', 'pair']
  const states = await Promise.all(names.map((model) => engine.modelReady(model, '')))
  return names.filter((_, i) => states[i])
}
const ask = (engine: Engine, rows = 1, outputs: readonly string[] = []) =>
  engine.infer(
    testRequest('fan', [floats('X', [rows, 4], 5)], {
      id: 'r',
      outputs: outputs.map((name) => ({ name, binary: true, classification: 0, region: undefined })),
    }),
  )

it('brings its steps, answers through them and counts once everywhere', async () => {
  const { engine } = await setUp()
  await engine.load('fan')
  expect(await ready(engine)).toEqual(['fan', 'a', 'b', 'pair'])
  expect(engine.metadata('fan', '').platform).toBe('ensemble')
  const response = await ask(engine, 2)
  expect(response).toMatchObject({ model: 'fan', version: '1', id: 'r' })
  expect(response.outputs).toEqual([floats('Y', [2, 4], 5), floats('Z', [2, 4], 5)])
  for (const model of ['fan', 'a', 'b', 'pair']) {
    expect(engine.statistics(model, '')[0]).toMatchObject({
      inference_count: 2,
      execution_count: 1,
      inference_stats: { success: { count: 1 }, fail: { count: 0 } },
    })
  }
})

it('runs no step whose outputs nobody wants', async () => {
  const files = {
    'fan/config.pbtxt': ensemble(step('a', { IN: 'X' }, { OUT: 'Y' }) + step('b', { IN: 'X' }, { OUT: 'Z' }), {
      outputs: tensor('output', 'Y') + tensor('output', 'Z'),
    }),
  }
  const { engine } = await setUp(files)
  await engine.load('fan')
  expect((await ask(engine, 1, ['Z'])).outputs.map(({ name }) => name)).toEqual(['Z'])
  expect(engine.statistics('a', '')[0]?.execution_count).toBe(0)
})

it('leaves its steps when it is unloaded, unless they are to go too', async () => {
  const { engine } = await setUp()
  await engine.load('fan')
  await engine.unload('fan', false)
  expect(await ready(engine)).toEqual(['a', 'b', 'pair'])
  await engine.load('fan')
  await engine.load('a')
  await engine.unload('fan', true)
  expect(await ready(engine)).toEqual(['a'])
})

it('spares steps that another ensemble needs', async () => {
  const { engine } = await setUp({
    'other/config.pbtxt': ensemble(step('b', { IN: 'X' }, { OUT: 'Y' })),
    'other/1/': '',
  })
  await engine.load('fan')
  await engine.load('other')
  await engine.unload('fan', true)
  expect(await ready(engine)).toEqual(['b'])
})

it('goes with a step that is unloaded, and comes back with the next load', async () => {
  const { engine } = await setUp()
  await engine.load('fan')
  await engine.unload('pair', false)
  expect(await ready(engine)).toEqual(['a', 'b'])
  await expect(ask(engine)).rejects.toThrow("Request for unknown model: 'fan' has no available versions")
  await vi.waitFor(async () => {
    const entry = (await engine.index(false)).find(({ name }) => name === 'fan')
    expect(entry).toMatchObject({ state: 'UNAVAILABLE', reason: 'unloaded' })
  })
  await engine.load('fan')
  expect((await ask(engine)).outputs).toHaveLength(2)
})

it('finishes what it began when a step is unloaded under it', async () => {
  const { engine, backend } = await setUp()
  await engine.load('fan')
  const running = Promise.withResolvers<void>()
  const plain = backend.execute
  backend.execute = async (batch, config) => {
    await running.promise
    return plain(batch, config)
  }
  const first = ask(engine)
  await engine.unload('pair', false)
  running.resolve()
  expect((await first).outputs).toHaveLength(2)
  await vi.waitFor(() => expect(backend.calls).toContain('unload pair:1'))
})

it('tells the first error of a step, with its own name before it, counted once', async () => {
  const { engine, backend } = await setUp()
  await engine.load('fan')
  backend.execute = (_batch, config) => {
    throw new ConchError('UNAVAILABLE', `${config.name} is tired`)
  }
  await expect(ask(engine)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: "in ensemble 'fan', a is tired (step 1 'a')",
  })
  expect(engine.statistics('fan', '')[0]?.inference_stats).toMatchObject({ success: { count: 0 }, fail: { count: 1 } })
})

it('adds and removes the batch dimension where only one side batches', async () => {
  const files = {
    'fan/config.pbtxt': ensemble(step('single', { IN: 'X' }, { OUT: 'mid' }) + step('a', { IN: 'mid' }, { OUT: 'Y' })),
    'single/config.pbtxt': fakeConfig('', '4', 0),
    'single/1/x': '',
  }
  const { engine } = await setUp(files)
  await engine.load('fan')
  expect((await ask(engine)).outputs[0]?.shape).toEqual([1, 4])
  await expect(ask(engine, 2)).rejects.toThrow(
    "in ensemble 'fan', [request id: r] unexpected shape for input 'IN' for model 'single'. Expected [4], got [2,4]. ",
  )
})

it('is loaded at start whatever the order of names', async () => {
  const { engine } = await setUp({}, { controlMode: 'none' })
  expect(await ready(engine)).toEqual(['fan', 'a', 'b', 'pair'])
})

it('is checked again when a step changes', async () => {
  const { engine, repository } = await setUp()
  await engine.load('fan')
  await repository.put('a/config.pbtxt', fakeConfig('', '9'))
  const soon = Date.now() / 1_000 + 60
  await utimes(join(repository.directory, 'a/config.pbtxt'), soon, soon)
  await engine.load('a')
  expect(await ready(engine)).toEqual(['a', 'b', 'pair'])
  const entry = (await engine.index(false)).find(({ name }) => name === 'fan')
  expect(entry?.problem).toContain(
    'inconsistent shape: [-1,4] is inferred from model fan while [-1,9] is inferred from model a',
  )
})

const one = (change: Parameters<typeof step>, more: Parameters<typeof ensemble>[1] = {}) =>
  ensemble(step(...change), more)
it.each<[string, string, string]>([
  [
    'an unknown model',
    one(['zzz', { IN: 'X' }, { OUT: 'Y' }]),
    'ensemble fan contains models that are not available or ambiguous: zzz',
  ],
  [
    'an unknown version',
    one(['a', { IN: 'X' }, { OUT: 'Y' }, 7]),
    "ensemble 'fan' depends on 'a' whose required version 7 is not loaded.",
  ],
  ['itself', one(['fan', { X: 'X' }, { Y: 'Y' }]), 'circular dependency between ensembles: fan -> ... -> fan -> fan'],
  [
    'an unknown output',
    one(['a', { IN: 'X' }, { NOPE: 'Y' }]),
    'in ensemble fan, ensemble tensor Y is mapped from non-existing output NOPE in model a',
  ],
  [
    'an unknown input',
    one(['a', { NOPE: 'X' }, { OUT: 'Y' }]),
    'in ensemble fan, ensemble tensor X is mapping to non-existing input NOPE in model a',
  ],
  [
    'an open input',
    one(['pair', { IN: 'X' }, { OUT: 'Y' }]),
    'in ensemble fan, input IN2 in model pair is not mapped to any ensemble tensors',
  ],
  [
    'another type',
    one(['a', { IN: 'X' }, { OUT: 'Y' }], { inputs: tensor('input', 'X', '4', 'INT32') }),
    'in ensemble fan, ensemble tensor X: inconsistent data type: TYPE_INT32 is inferred from model fan while TYPE_FP32 is inferred from model a',
  ],
  [
    'another shape',
    one(['a', { IN: 'X' }, { OUT: 'Y' }], { inputs: tensor('input', 'X', '8') }),
    'in ensemble fan, ensemble tensor X: inconsistent shape: [-1,8] is inferred from model fan while [-1,4] is inferred from model a',
  ],
  [
    'a larger batch',
    one(['a', { IN: 'X' }, { OUT: 'Y' }], { maxBatch: 64 }),
    'ensemble fan allows maximum batch size 64, but it contains model a which only allows maximum batch size to be 8',
  ],
  [
    'a broken model',
    one(['broken', { IN: 'X' }, { OUT: 'Y' }]),
    "ensemble 'fan' depends on 'broken' which has no loaded version. Model 'broken' loading failed with error: load failed for model 'broken': version 1 is at UNAVAILABLE state: Invalid argument: unable to find backend library",
  ],
])('refuses %s', async (_name, config, message) => {
  const { engine } = await setUp({
    'fan/config.pbtxt': config,
    'broken/config.pbtxt': fakeConfig().replace('"fake"', '"gone"'),
    'broken/1/x': '',
  })
  const failure = await engine.load('fan').catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'INVALID_ARG' })
  expect((failure as ConchError).message).toContain(`load failed for model 'fan': ${message}`)
  expect((await engine.index(false)).find(({ name }) => name === 'fan')).toMatchObject({ state: 'UNAVAILABLE' })
})

it('does not wait for itself when two ensembles go round in a circle', async () => {
  const files = {
    'fan/config.pbtxt': one(['other', { X: 'X' }, { Y: 'Y' }]),
    'other/config.pbtxt': one(['fan', { X: 'X' }, { Y: 'Y' }]),
    'other/1/': '',
  }
  const { engine } = await setUp(files)
  const failures = await Promise.allSettled([engine.load('fan'), engine.load('other')])
  for (const failure of failures)
    expect(failure).toMatchObject({ reason: { message: expect.stringContaining('circular') as string } })
})
