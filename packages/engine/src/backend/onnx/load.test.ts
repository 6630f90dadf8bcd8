import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { writeBigModel } from '../../../bench/big-model.ts'
import {
  activeRequest,
  batchOf,
  closeInstances,
  configOf,
  contextOf,
  CPU,
  execute,
  openInstance,
  outputsOf,
  tensor,
} from '../contract.suite.ts'
import { makeDirectory } from '../../testing.ts'
import { createOnnxBackend } from './backend.ts'
import { isBounded } from './bounded.ts'
import { readOnnxSignature } from './read-model.ts'
import { Session } from './session.ts'

afterEach(closeInstances)

it('loads a model once for its signature and its first instance', async () => {
  const open = vi.spyOn(Session, 'open')
  await openInstance(createOnnxBackend(), await configOf('echo_float'), contextOf('echo_float'))
  expect(open).toHaveBeenCalledTimes(1)
})

it('gives up a session that nobody comes for', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const close = vi.spyOn(Session.prototype, 'close')
  await createOnnxBackend().complete(await configOf('echo_float'), contextOf('echo_float'))
  expect(close).not.toHaveBeenCalled()
  vi.advanceTimersByTime(60_000)
  vi.useRealTimers()
  expect(close).toHaveBeenCalledTimes(1)
  await close.mock.results[0]?.value
})

it('keeps the event loop free while it loads and unloads a large model', async () => {
  const modelDirectory = await mkdtemp(join(tmpdir(), 'conch-big-'))
  const versionDirectory = join(modelDirectory, '1')
  await mkdir(versionDirectory)
  const path = join(versionDirectory, 'model.onnx')
  await writeBigModel(path, 64)
  try {
    expect((await readOnnxSignature(path)).inputs[0]).toMatchObject({ name: 'IN', dims: [-1], symbols: ['n'] })
    const config = await configOf('big', 'backend: "onnxruntime"')
    let ticks = 0
    const timer = setInterval(() => (ticks += 1), 1)
    const { instance, close } = await openInstance(createOnnxBackend(), config, {
      ...contextOf('big'),
      modelDirectory,
      versionDirectory,
    })
    clearInterval(timer)
    // A load on the event loop's own thread would leave room for one tick or two.
    expect(ticks).toBeGreaterThan(5)
    const rows = tensor('IN', 'INT64', [2, 1], new Uint8Array(16))
    const [answer] = await execute(instance, batchOf([activeRequest([rows], 2)], ['OUT']))
    expect(outputsOf(answer)[0]?.shape).toEqual([2, 256])
    await close()
  } finally {
    await rm(modelDirectory, { recursive: true })
  }
})

it('leaves nothing behind', async () => {
  const backend = createOnnxBackend()
  const context = contextOf('echo_float')
  const config = await configOf('echo_float')
  const cycle = async () => (await openInstance(backend, config, context)).close()
  for (let i = 0; i < 10; i++) await cycle()
  const before = process.memoryUsage.rss()
  for (let i = 0; i < 60; i++) await cycle()
  // A session of this model takes about a quarter of a megabyte.
  expect(process.memoryUsage.rss() - before).toBeLessThan(15 * 2 ** 20)
})

it.each([
  ['slow', false],
  ['add_sub', true],
  ['nonzero', true],
])('tells whether the inputs bound the work of %s: %j', async (model, bounded) => {
  const path = join(contextOf(model).versionDirectory, 'model.onnx')
  expect(await isBounded(await configOf(model), { path, shownAs: model })).toBe(bounded)
  expect((await readOnnxSignature(path)).operators.includes('Loop')).toBe(model === 'slow')
})

it.each([
  ['optimization { execution_accelerators { cpu_execution_accelerator { name: "openvino" } } }', CPU],
  ['model_operations { op_library_filename: "/nowhere/ops.so" }', CPU],
  ['', { ...CPU, kind: 'KIND_GPU' }],
] as const)('hands on what the runtime says about %s', async (text, spec) => {
  const model = await createOnnxBackend().load(await configOf('echo_float', text), contextOf('echo_float'))
  const failure = await model.createInstance(spec).then(
    () => 'loaded',
    (error: Error) => error.message,
  )
  expect(failure).toMatch(/^onnx runtime error \d+: /)
  expect(failure).not.toContain('node_modules')
})

it('tells of weights outside the model without saying where it looked', async () => {
  const original = contextOf('external')
  const model = await readFile(join(original.versionDirectory, 'model.onnx', 'model.onnx'))
  const at = model.indexOf('weights.bin')
  expect(at).toBeGreaterThan(0)
  model.write('../../../ww', at)
  const { directory, remove } = await makeDirectory({ 'm/1/model.onnx': model, ww: 'x'.repeat(4096) })
  const context = { ...original, modelDirectory: join(directory, 'm'), versionDirectory: join(directory, 'm', '1') }
  try {
    const failure = await openInstance(createOnnxBackend(), await configOf('external'), context).catch(String)
    expect(failure).toContain('../../../ww')
    expect(failure).not.toContain(directory)
  } finally {
    await remove()
  }
})
