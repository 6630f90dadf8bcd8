import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
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

it(
  'answers every request while models are reloaded, changed, and versions come and go',
  { timeout: 60_000 },
  async () => {
    const { directory, put, remove } = await makeDirectory({
      'm/config.pbtxt': config(''),
      'm/1/model.bin': '',
      'm/2/model.bin': '',
    })
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
    expect(options.lines.filter((line) => line.startsWith('error'))).toEqual([])
  },
)
