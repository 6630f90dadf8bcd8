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
  expect(engine.ready()).toBe(true)
  await engine.load('m')
  expect(await engine.index(true)).toEqual([{ name: 'm', version: '1', state: 'READY', reason: '' }])
  expect(engine.modelReady('m', '')).toBe(true)
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
