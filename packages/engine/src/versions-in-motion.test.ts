import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
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

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

const CLIENTS = 8
/** Milliseconds between two changes. */
const EVERY = 300

const config = (extra: string, count = 1) =>
  fakeConfig(`version_policy { all { } } ${extra}`).replace('count: 1', `count: ${count}`)
const batching = (delay: number) => `dynamic_batching { max_queue_delay_microseconds: ${delay} }`

async function setUp(files: Record<string, string>) {
  const { directory, put, remove } = await makeDirectory(files)
  cleanups.push(remove)
  const backend = new FakeBackend()
  backend.execute = async (batch, made) => {
    await new Promise((resolve) => setTimeout(resolve, 2))
    return copyInputs(batch, made)
  }
  const options = testOptions([directory])
  const engine = createEngine(options, { findBackend: onlyBackends(backend) })
  cleanups.push(() => engine.stop(1))
  await engine.start()
  await engine.load('m')
  const ask = (id: string) => engine.infer(testRequest('m', [floats('IN', [1, 4], Number(id))], { id }))
  return { directory, put, backend, engine, ask, lines: options.lines }
}

it(
  'answers every request while models are reloaded, changed, and versions come and go',
  { timeout: 60_000 },
  async () => {
    const { directory, put, engine, lines } = await setUp({
      'm/config.pbtxt': config(''),
      'm/1/model.bin': '',
      'm/2/model.bin': '',
    })
    let running = true
    let asked = 0
    const seen = new Set<string>()
    const client = async (number: number): Promise<void> => {
      for (let i = 0; running; i++) {
        asked += 1
        const request = testRequest('m', [floats('IN', [1, 4], number * 1_000 + i)], { id: `${number}-${i}` })
        const response = await engine.infer(request)
        expect(response.outputs[0]?.data).toEqual(request.inputs[0]?.data)
        expect(response.id).toBe(request.id)
        seen.add(response.version)
      }
    }
    const clients = Array.from({ length: CLIENTS }, (_, number) => client(number))
    const failed = Promise.race(clients).then(() => 'a client ended early')

    const changes: readonly (() => Promise<void>)[] = [
      () => put('m/notes.txt', 'another'),
      () => put('m/config.pbtxt', config('', 3)),
      () => put('m/3/model.bin', ''),
      () => put('m/config.pbtxt', config(batching(500), 2)),
      () => put('m/2/model.bin', 'other bytes'),
      () => rm(join(directory, 'm/3'), { recursive: true }),
      () => put('m/config.pbtxt', config(batching(0))),
      () => put('m/traffic.json', '{"split": {"1": 50, "2": 50}}'),
      () => rm(join(directory, 'm/1'), { recursive: true }),
      () => put('m/4/model.bin', ''),
      () => rm(join(directory, 'm/traffic.json')),
      () => put('m/config.pbtxt', config('', 2)),
    ]
    for (const change of changes) {
      const pause = new Promise((resolve) => setTimeout(resolve, EVERY))
      await change()
      await engine.load('m')
      expect(await Promise.race([failed, pause.then(() => 'fine')])).toBe('fine')
    }
    running = false
    await Promise.all(clients)
    expect(asked).toBeGreaterThan(1_000)
    // Whoever was the highest at its time, and both halves of the split.
    expect(seen).toEqual(new Set(['1', '2', '3', '4']))
    expect(lines.filter((line) => line.startsWith('error'))).toEqual([])
  },
)

it('keeps serving what was there while what came is broken', async () => {
  const { put, engine, ask, backend } = await setUp({ 'm/config.pbtxt': config(''), 'm/1/model.bin': '' })
  const answers: Promise<unknown>[] = []
  const traffic = setInterval(() => void answers.push(ask('1')), 1)
  await put('m/config.pbtxt', 'backend: "fake" max_batch_sise: 8')
  await expect(engine.load('m')).rejects.toThrow('max_batch_sise')
  backend.onLoad = () => {
    throw new Error('the file is broken')
  }
  await put('m/config.pbtxt', config(''))
  await put('m/1/model.bin', 'broken')
  await expect(engine.load('m')).rejects.toThrow('the file is broken')
  clearInterval(traffic)
  await Promise.all(answers)
  expect(answers.length).toBeGreaterThan(2)
  expect(await engine.index(false)).toMatchObject([
    { state: 'READY', problem: expect.stringContaining('broken') as string },
  ])
})

it('answers 200 requests that are in flight when their model is unloaded, and lets go of it then', async () => {
  const { engine, ask, backend } = await setUp({ 'm/config.pbtxt': config(''), 'm/1/model.bin': '' })
  const answers = Array.from({ length: 200 }, (_, i) => ask(String(i)))
  await engine.unload('m', false)
  await expect(ask('1')).rejects.toThrow("'m' has no available versions")
  expect(backend.calls).not.toContain('unload m:1')
  const ids = (await Promise.all(answers)).map(({ id }) => Number(id))
  expect(ids).toEqual(Array.from({ length: 200 }, (_, i) => i))
  await vi.waitFor(() => expect(backend.calls).toContain('unload m:1'))
  expect(await engine.index(false)).toMatchObject([{ state: 'UNAVAILABLE', reason: 'unloaded' }])
})

it('ends as the last call says when ten load and unload one model at once', async () => {
  const { engine, ask, backend, put } = await setUp({ 'm/config.pbtxt': config(''), 'm/1/model.bin': '' })
  const errors: string[] = []
  const note = (error: unknown) => void errors.push(String(error))
  const turn = async (caller: number): Promise<void> => {
    for (let i = 0; i < 100; i++) {
      if (caller === 0 && i % 4 === 0) await put('m/notes.txt', `${caller} ${i}`)
      await ((caller + i) % 2 === 0 ? engine.load('m') : engine.unload('m', false)).catch(note)
      await ask('1').catch(note)
    }
  }
  await Promise.all(Array.from({ length: 10 }, (_, caller) => turn(caller)))
  await engine.load('m')
  expect((await ask('1')).version).toBe('1')
  await engine.unload('m', false)
  await vi.waitFor(async () => expect(await engine.index(false)).toMatchObject([{ reason: 'unloaded' }]))
  // Nothing but that it was away; and all that was loaded was let go of.
  expect(errors.filter((text) => !/no available versions|not at ready state|out-dated/.test(text))).toEqual([])
  await vi.waitFor(() => {
    const count = (what: string) => backend.calls.filter((call) => call.startsWith(what)).length
    expect(count('load')).toBe(count('unload'))
  })
})
