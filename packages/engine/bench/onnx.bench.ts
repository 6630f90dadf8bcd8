/**
 * What the ONNX Runtime backend costs, without a server around it:
 *
 *     node --conditions=@conch/source packages/engine/bench/onnx.bench.ts [inline|large|pauses|leaks]
 *
 * Best of several rounds; compare two commits on one machine, never the numbers of two machines.
 */
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { completeConfig, normaliseConfig, parsePbtxt } from '@conch/protocol'
import type { Tensor } from '@conch/protocol'
import type { BackendContext, BackendInstance, Batch } from '../src/backend/contract.ts'
import { createOnnxBackend } from '../src/backend/onnx/backend.ts'
import { newTimings } from '../src/request.ts'
import { FIXTURE_MODELS, NO_ENGINE, testRequest } from '../src/testing.ts'
import { writeBigModel } from './big-model.ts'

const backend = createOnnxBackend()

async function open(directory: string): Promise<{ instance: BackendInstance; close: () => Promise<void> }> {
  const context: BackendContext = {
    modelDirectory: directory,
    versionDirectory: join(directory, '1'),
    version: '1',
    settings: {},
    log: () => undefined,
    engine: NO_ENGINE,
  }
  const facts = { preferredGroup: backend.preferredGroup, gpus: [], directoryName: 'm', versionFiles: ['model.onnx'] }
  const written = completeConfig(parsePbtxt('backend: "onnxruntime"').config, facts)
  const config = normaliseConfig(await backend.complete(written, context))
  const model = await backend.load(config, context)
  const instance = await model.createInstance({ name: 'm_0', kind: 'KIND_CPU', deviceId: 0, profiles: [] })
  const close = async () => {
    await instance.close()
    await model.close()
  }
  return { instance, close }
}

function floats(name: string, shape: readonly number[], offset = 0): Tensor {
  const size = 4 * shape.reduce((a, b) => a * b, 1)
  return { name, datatype: 'FP32', shape, data: new Uint8Array(size + offset).subarray(offset) }
}
function long(name: string, value: number): Tensor {
  return { name, datatype: 'INT64', shape: [1], data: new Uint8Array(BigInt64Array.of(BigInt(value)).buffer) }
}

function makeBatch(inputs: readonly Tensor[], outputs: ReadonlySet<string>, copies = 1): Batch {
  const active = {
    request: testRequest('m', inputs),
    rows: inputs[0]?.shape[0] ?? 1,
    signal: undefined,
    timings: newTimings(),
    chain: ['m'],
    done: false,
    respond: () => undefined,
    respondError: () => undefined,
    fail: () => undefined,
  }
  const requests = Array.from({ length: copies }, () => active)
  const rows = copies * active.rows
  return { requests, rows, outputs, computeInputEnd: 0, computeOutputStart: 0, signal: undefined }
}

async function measure(name: string, runs: number, run: () => unknown): Promise<void> {
  const wall: number[] = []
  const cpu: number[] = []
  let elsewhere = 0
  for (let round = 0; round < 9; round++) {
    const before = process.cpuUsage()
    const started = performance.now()
    elsewhere = 0
    for (let i = 0; i < runs; i++) {
      const result = run()
      if (!(result instanceof Promise)) continue
      elsewhere += 1
      await result
    }
    wall.push(((performance.now() - started) * 1_000) / runs)
    const { user, system } = process.cpuUsage(before)
    cpu.push((user + system) / runs)
  }
  const [bestWall, bestCpu] = [wall, cpu].map((list) => Math.min(...list).toFixed(2))
  console.log(`${name}: ${bestWall} µs, ${bestCpu} µs CPU; ${elsewhere} of ${runs} runs on another thread`)
}

async function benchInline(): Promise<void> {
  const { instance, close } = await open(join(FIXTURE_MODELS, 'add_sub'))
  const outputs = new Set(['OUTPUT0', 'OUTPUT1'])
  const inputs = [floats('INPUT0', [1, 16]), floats('INPUT1', [1, 16])]
  const one = makeBatch(inputs, outputs)
  await measure('add/sub [1,16]', 50_000, () => instance.execute(one))
  const eight = makeBatch(inputs, outputs, 8)
  await measure('add/sub, batch of 8', 20_000, () => instance.execute(eight))
  await close()
  const echo = await open(join(FIXTURE_MODELS, 'echo_string'))
  const data = new Uint8Array(16 * 12)
  for (let i = 0; i < 16; i++) data.set([8, 0, 0, 0, 65, 66, 67, 68, 69, 70, 71, 72], i * 12)
  const strings = makeBatch([{ name: 'IN', datatype: 'BYTES', shape: [1, 16], data }], new Set(['OUT']))
  await measure('16 strings of 8 bytes', 20_000, () => echo.instance.execute(strings))
  await echo.close()
}

async function benchLarge(): Promise<void> {
  const { instance, close } = await open(join(FIXTURE_MODELS, 'echo_float'))
  const outputs = new Set(['OUT'])
  for (const [name, elements, offset] of [
    ['150 KB', 37_500, 0],
    ['5 MB', 1_310_720, 0],
    ['5 MB, not aligned', 1_310_720, 1],
  ] as const) {
    const batch = makeBatch([floats('IN', [1, elements], offset)], outputs)
    await measure(`identity of ${name}`, 300, () => instance.execute(batch))
  }
  const source = new Uint8Array(5 * 2 ** 20)
  await measure('for comparison, one copy of 5 MB', 300, () => Buffer.allocUnsafeSlow(source.length).set(source))
  await close()
}

/** Nanoseconds for which this thread was ready to run and had no core (Linux). */
function readStarvation(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[1])
}

/** The longest gap between ticks of the event loop while `work` is under way, less what a busy machine made of it. */
async function watch(name: string, work: () => Promise<unknown>): Promise<void> {
  let [longest, longestOwn, last, starved] = [0, 0, performance.now(), readStarvation()]
  const tick = () => {
    const [now, waited] = [performance.now(), readStarvation()]
    longest = Math.max(longest, now - last)
    longestOwn = Math.max(longestOwn, now - last - (waited - starved) / 1e6)
    ;[last, starved] = [now, waited]
  }
  const timer = setInterval(tick, 1)
  const started = performance.now()
  await work()
  const took = performance.now() - started
  tick()
  clearInterval(timer)
  const gaps = `longest pause ${longest.toFixed(1)} ms, ${longestOwn.toFixed(1)} ms without waiting for a core`
  console.log(`${name}: took ${took.toFixed(0)} ms, ${gaps}`)
}

async function benchPauses(directory: string): Promise<void> {
  await watch('nothing, for comparison', () => sleep(500))
  await watch('first use: library and environment', async () => (await open(join(FIXTURE_MODELS, 'add_sub'))).close())
  const model = join(directory, 'big')
  await mkdir(join(model, '1'), { recursive: true })
  await writeBigModel(join(model, '1', 'model.onnx'), 100)
  let opened: Awaited<ReturnType<typeof open>> | undefined
  await watch('load of 100 MB', async () => {
    opened = await open(model)
  })
  await watch('unload of 100 MB', async () => opened?.close())
  const slow = await open(join(FIXTURE_MODELS, 'slow'))
  const batch = makeBatch([floats('IN', [1]), long('LOOPS', 400)], new Set(['OUT']))
  await watch('run of a slow model', async () => slow.instance.execute(batch))
  await slow.close()
}

async function benchLeaks(): Promise<void> {
  const rss = () => {
    globalThis.gc?.()
    return process.memoryUsage.rss() / 2 ** 20
  }
  const directory = join(FIXTURE_MODELS, 'add_sub')
  const cycle = async () => (await open(directory)).close()
  for (let i = 0; i < 20; i++) await cycle()
  const before = rss()
  for (let i = 0; i < 100; i++) await cycle()
  report('100 loads and unloads', before, rss())
  const { instance, close } = await open(directory)
  const batch = makeBatch([floats('INPUT0', [1, 16]), floats('INPUT1', [1, 16])], new Set(['OUTPUT0', 'OUTPUT1']))
  for (let i = 0; i < 20_000; i++) await instance.execute(batch)
  const warm = rss()
  for (let i = 0; i < 200_000; i++) await instance.execute(batch)
  report('200 000 runs', warm, rss())
  await close()
  const echo = await open(join(FIXTURE_MODELS, 'echo_float'))
  const large = makeBatch([floats('IN', [1, 262_144])], new Set(['OUT']))
  for (let i = 0; i < 300; i++) await echo.instance.execute(large)
  const filled = rss()
  for (let i = 0; i < 3_000; i++) await echo.instance.execute(large)
  report('3 000 runs of 1 MB', filled, rss())
  await echo.close()
}

function report(name: string, before: number, after: number): void {
  const growth = ((after / before - 1) * 100).toFixed(1)
  console.log(`${name}: resident ${before.toFixed(1)} → ${after.toFixed(1)} MB (${growth} %)`)
}

const only = process.argv[2]
const directory = await mkdtemp(join(tmpdir(), 'conch-bench-'))
try {
  if (only === undefined || only === 'inline') await benchInline()
  if (only === undefined || only === 'large') await benchLarge()
  if (only === undefined || only === 'pauses') await benchPauses(directory)
  if (only === undefined || only === 'leaks') await benchLeaks()
} finally {
  await rm(directory, { recursive: true })
}
