import { readFile, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { ConchError } from '@conch/protocol'
import type { InferRequest, ModelConfig } from '@conch/protocol'
import { afterEach, expect, it, vi } from 'vitest'
import type { Batch, EngineCalls } from '../backend/contract.ts'
import type { Engine, EngineOptions, InferContext } from '../contract.ts'
import { createEngine } from '../engine.ts'
import {
  copyInputs,
  FakeBackend,
  fakeConfig,
  floats,
  makeDirectory,
  onlyBackends,
  testOptions,
  testRequest,
} from '../testing.ts'
import type { TrafficEvent } from './contract.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

/** Answers every request; what a version does otherwise a test sets. Knows which versions are loaded. */
class VersionedBackend extends FakeBackend {
  readonly does = new Map<string, (batch: Batch, config: ModelConfig) => ReturnType<FakeBackend['execute']>>()

  override async load(...args: Parameters<FakeBackend['load']>) {
    const [config, { version }] = args
    const model = await super.load(...args)
    return {
      ...model,
      createInstance: async (...spec: Parameters<typeof model.createInstance>) => ({
        ...(await model.createInstance(...spec)),
        execute: (batch: Batch) => (this.does.get(version) ?? this.execute)(batch, config),
      }),
    }
  }
}

const ALL = fakeConfig('version_policy { all { } }')
const MODEL = { 'm/config.pbtxt': ALL, 'm/1/model.bin': '', 'm/2/model.bin': '' }
const canary = (more: object = {}) =>
  JSON.stringify({ labels: { stable: 1, canary: 2 }, split: { stable: 90, canary: 10 }, ...more })

async function setUp(files: Record<string, string>, change: Partial<EngineOptions> = {}) {
  const repository = await makeDirectory(files)
  cleanups.push(repository.remove)
  const backend = new VersionedBackend()
  const options = testOptions([repository.directory], change)
  const engine = createEngine(options, { findBackend: onlyBackends(backend) })
  cleanups.push(() => engine.stop(1))
  await engine.start()
  await engine.load('m')
  const events: TrafficEvent[] = []
  engine.onTraffic((event) => events.push(event))
  return { repository, backend, engine, events, lines: options.lines }
}

const ask = (engine: Engine, change: Partial<InferRequest> = {}, context?: InferContext) =>
  engine.infer(testRequest('m', [floats('IN', [1, 4], 7)], change), context)

async function count(engine: Engine, times: number, change: Partial<InferRequest> = {}, context?: InferContext) {
  const counts: Record<string, number> = {}
  for (let i = 0; i < times; i++) {
    const version = await ask(engine, change, context).then(
      (response) => response.version,
      () => 'failed',
    )
    counts[version] = (counts[version] ?? 0) + 1
  }
  return counts
}

const fails = () => {
  throw new ConchError('INTERNAL', 'broken')
}

it('changes nothing for a model without a policy', async () => {
  const { engine } = await setUp(MODEL)
  expect(await count(engine, 20)).toEqual({ 2: 20 })
  expect(engine.traffic('m')).toBeUndefined()
  await expect(ask(engine, { version: 'stable' })).rejects.toThrow("'m' version stable is not found")
  expect(await engine.metricsText()).not.toContain('conch_traffic')
})

it('splits exactly, and an explicit version always wins', async () => {
  const { engine } = await setUp({ ...MODEL, 'm/traffic.json': canary() })
  expect(await count(engine, 100)).toEqual({ 1: 90, 2: 10 })
  expect(await count(engine, 10, { version: '2' })).toEqual({ 2: 10 })
  expect(await count(engine, 10, { version: 'stable' })).toEqual({ 1: 10 })
  expect(engine.findLabel('m', 'canary')).toBe('2')
  expect(engine.metadata('m', 'canary').name).toBe('m')
  expect(engine.traffic('m')?.arms.map(({ version, requests, share }) => [version, requests, share])).toEqual([
    ['1', 90, 90],
    ['2', 10, 10],
  ])
  expect(await engine.metricsText()).toContain('conch_traffic_requests_total{model="m",version="2"} 10')
})

it('keeps one key with one version', async () => {
  const { engine } = await setUp({
    ...MODEL,
    'm/traffic.json': canary({ split: { 1: 50, 2: 50 }, sticky: { header: 'X-User' } }),
  })
  const seen = new Set<string>()
  for (let user = 0; user < 20; user++) {
    const headers = { header: (name: string) => (name === 'x-user' ? `user ${user}` : undefined) }
    const counts = await count(engine, 5, {}, { headers })
    expect(Object.values(counts)).toEqual([5])
    for (const version of Object.keys(counts)) seen.add(version)
  }
  expect([...seen].toSorted()).toEqual(['1', '2'])
})

it('never moves a sequence, whatever happens to the policy', async () => {
  const { engine } = await setUp({ ...MODEL, 'm/traffic.json': canary({ split: { 1: 50, 2: 50 } }) })
  const before = new Map<bigint, string>()
  for (let id = 1n; id <= 20n; id++)
    before.set(id, (await ask(engine, { sequenceId: id, sequenceStart: true })).version)
  expect(new Set(before.values()).size).toBe(2)
  await engine.setTraffic('m', { split: { 1: 100 } })
  for (const [id, version] of before) expect((await ask(engine, { sequenceId: id })).version).toBe(version)
  expect(engine.traffic('m')?.sequences).toBe(20)
  for (const [id, version] of before)
    expect((await ask(engine, { sequenceId: id, sequenceEnd: true })).version).toBe(version)
  expect(engine.traffic('m')?.sequences).toBe(0)
  for (const id of before.keys()) expect((await ask(engine, { sequenceId: id, sequenceStart: true })).version).toBe('1')
})

it('gives the share of a version that is not ready to the others', async () => {
  const files = { 'm/config.pbtxt': ALL, 'm/1/model.bin': '', 'm/traffic.json': canary() }
  const { engine, repository } = await setUp(files)
  expect(await count(engine, 20)).toEqual({ 1: 20 })
  await repository.put('m/2/model.bin', '')
  await engine.load('m')
  expect(await count(engine, 100)).toEqual({ 1: 90, 2: 10 })
})

it('answers by no version that nobody asked for', async () => {
  const { engine } = await setUp({ ...MODEL, 'm/traffic.json': JSON.stringify({ split: { 7: 100 } }) })
  await expect(ask(engine)).rejects.toThrow(
    "Request for unknown model: 'm' has no available versions: traffic.json sends requests to 7, of which none is ready",
  )
  await engine.unload('m', false)
  await expect(ask(engine)).rejects.toThrow(/'m' has no available versions$/)
})

it('reads the file again with every load, without touching the model', async () => {
  const { engine, repository, backend, events } = await setUp({ ...MODEL, 'm/traffic.json': canary() })
  const before = backend.calls.length
  await repository.put('m/traffic.json', canary({ split: { stable: 50, canary: 50 } }))
  await engine.load('m')
  expect(await count(engine, 100)).toEqual({ 1: 50, 2: 50 })
  await engine.load('m')
  await rm(join(repository.directory, 'm/traffic.json'))
  await engine.load('m')
  expect(await count(engine, 10)).toEqual({ 2: 10 })
  expect(backend.calls.slice(before).filter((call) => /^(load|unload|create|close)/.test(call))).toEqual([])
  expect(events.map(({ change, by }) => `${change} by ${by}`)).toEqual(['set by file', 'removed by file'])
})

it('refuses a broken file with every reason; what was there goes on', async () => {
  const { engine, repository } = await setUp({ ...MODEL, 'm/traffic.json': canary() })
  await repository.put('m/traffic.json', '{"split": {"1": 90, "2": 5}, "shadow": {"version": "nobody"}}')
  const failure = await engine.load('m').catch((error: unknown) => String(error))
  expect(failure).toContain('traffic.json: split sums up to 95; the weights must sum up to 100')
  expect(failure).toContain("traffic.json: shadow.version names no version (the text 'nobody')")
  expect(await count(engine, 100)).toEqual({ 1: 90, 2: 10 })
})

it('writes what it is told to, and refuses what is none', async () => {
  const { engine, repository, events } = await setUp(MODEL)
  await expect(engine.setTraffic('m', { split: { 1: 1 } })).rejects.toThrow('the weights must sum up to 100')
  await expect(engine.setTraffic('nobody', { split: { 1: 100 } })).rejects.toThrow("'nobody' is in no model repository")
  await engine.setTraffic('m', { split: { 1: 100 } })
  expect(JSON.parse(await readFile(join(repository.directory, 'm/traffic.json'), 'utf8'))).toEqual({
    split: { 1: 100 },
  })
  expect(await count(engine, 5)).toEqual({ 1: 5 })
  await engine.setTraffic('m', undefined)
  expect(await count(engine, 5)).toEqual({ 2: 5 })
  expect(events.map(({ change, by }) => `${change} by ${by}`)).toEqual(['set by call', 'removed by call'])
})

it('rolls a failing version back by itself, tells why, and holds it after a restart', async () => {
  const rollback = { error_percent: 20, min_requests: 5 }
  const { engine, backend, repository, events, lines } = await setUp({
    ...MODEL,
    'm/traffic.json': canary({ rollback }),
  })
  backend.does.set('2', fails)
  const counts = await count(engine, 200)
  // One request in ten, five of them to be sure.
  expect(counts).toEqual({ 1: 195, failed: 5 })
  const reason = '5 of 5 requests failed in the last 60 s: 100 %, the limit is 20 %'
  expect(events).toMatchObject([{ model: 'm', change: 'rolled back', by: 'policy', version: '2', reason }])
  expect(lines).toContain(`warning traffic: model 'm' version 2 rolled back to 1: ${reason}`)
  expect(engine.traffic('m')?.policy.rolledBack).toMatchObject([{ version: '2', reason }])
  const file = join(repository.directory, 'm/traffic.json')
  await vi.waitFor(async () =>
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ rolled_back: [{ version: '2' }] }),
  )
  const next = createEngine(testOptions([repository.directory]), { findBackend: onlyBackends(backend) })
  cleanups.push(() => next.stop(1))
  await next.start()
  await next.load('m')
  expect(await count(next, 50)).toEqual({ 1: 50 })
  await next.setTraffic('m', JSON.parse(canary()))
  expect((await count(next, 50))['failed']).toBe(5)
})

it('does not blame a version for its clients', async () => {
  const rollback = { error_percent: 0, min_requests: 1 }
  const { engine, events } = await setUp({
    ...MODEL,
    'm/traffic.json': canary({ split: { 2: 100 }, rollback: { ...rollback, to: 1 } }),
  })
  for (let i = 0; i < 10; i++) {
    await expect(engine.infer(testRequest('m', [floats('WRONG', [1, 4])]))).rejects.toThrow('WRONG')
    const signal = AbortSignal.abort()
    await expect(ask(engine, {}, { signal })).rejects.toMatchObject({ code: 'CANCELLED' })
  }
  expect(events).toEqual([])
  expect(engine.traffic('m')?.arms.map(({ failures }) => failures)).toEqual([0, 0])
})

it('rolls back what is slow', async () => {
  const rollback = { latency_ms: 5, min_requests: 3 }
  const { engine, backend, events } = await setUp({ ...MODEL, 'm/traffic.json': canary({ rollback }) })
  backend.does.set('2', async (batch, config) => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    return copyInputs(batch, config)
  })
  await count(engine, 60)
  expect(events).toMatchObject([{ change: 'rolled back', version: '2' }])
  expect(events[0]?.reason).toMatch(/^3 of 3 requests took longer than 5 ms/)
})

const wrong = (batch: Batch, { output }: ModelConfig) =>
  batch.requests.map(() => ({ outputs: [{ ...floats('OUT', [1, 4], 7.5), name: output[0]?.name ?? '' }] }))

it('compares a shadow that no client sees, and takes off one that is wrong', async () => {
  const shadow = { version: 2, percent: 50, tolerance: { absolute: 0.1 } }
  const policy = { split: { 1: 100 }, shadow, rollback: { mismatch_percent: 10, min_requests: 8 } }
  const { engine, backend, events } = await setUp({ ...MODEL, 'm/traffic.json': JSON.stringify(policy) })
  expect(await count(engine, 10)).toEqual({ 1: 10 })
  await vi.waitFor(() => expect(engine.traffic('m')?.shadow).toMatchObject({ sent: 5, matched: 5, active: true }))
  backend.does.set('2', wrong)
  for (let i = 0; i < 20; i++) {
    expect(await count(engine, 1)).toEqual({ 1: 1 })
    await new Promise((resolve) => setImmediate(resolve))
  }
  await vi.waitFor(() => expect(events).toMatchObject([{ change: 'rolled back', version: '2', by: 'policy' }]))
  expect(events[0]?.reason).toMatch(
    /^3 of 8 shadow answers differed in the last 60 s: 37.5 %, the limit is 10 %; the last one: output 'OUT' has element 0 = 7.5 instead of 7$/,
  )
  expect(engine.traffic('m')?.shadow?.active).toBe(false)
})

it('lets a shadow fail, hang and be too many without a client noticing', async () => {
  const policy = { split: { 1: 100 }, shadow: { version: 2, max_inflight: 2 } }
  const { engine, backend } = await setUp({ ...MODEL, 'm/traffic.json': JSON.stringify(policy) })
  backend.does.set('2', fails)
  expect(await count(engine, 1)).toEqual({ 1: 1 })
  await vi.waitFor(() => expect(engine.traffic('m')?.shadow).toMatchObject({ failed: 1, example: 'failed: broken' }))
  const hangs = Promise.withResolvers<never[]>()
  backend.does.set('2', () => hangs.promise)
  expect(await count(engine, 20)).toEqual({ 1: 20 })
  expect(engine.traffic('m')?.shadow).toMatchObject({ sent: 3, dropped: 18, inflight: 2 })
  hangs.resolve([])
  await vi.waitFor(() => expect(engine.traffic('m')?.shadow?.inflight).toBe(0))
})

it('follows the file while it polls', async () => {
  const { directory, put, remove } = await makeDirectory({ ...MODEL, 'm/traffic.json': canary() })
  cleanups.push(remove)
  const old = new Date(Date.now() - 60_000)
  await utimes(join(directory, 'm'), old, old)
  const options = testOptions([directory], { controlMode: 'poll', pollSeconds: 0.05 })
  const engine = createEngine(options, { findBackend: onlyBackends(new VersionedBackend()) })
  cleanups.push(() => engine.stop(1))
  await engine.start()
  expect(await count(engine, 10)).toEqual({ 1: 9, 2: 1 })
  await put('m/traffic.json', canary({ split: { canary: 100 } }))
  await vi.waitFor(async () => expect(await count(engine, 5)).toEqual({ 2: 5 }), { timeout: 5_000 })
})

it('splits the versions of an ensemble as a unit', async () => {
  const step = (model: string) =>
    `step { model_name: "${model}" model_version: -1 input_map { key: "IN" value: "IN" } output_map { key: "OUT" value: "OUT" } }`
  const ensemble = `platform: "ensemble" max_batch_size: 8 version_policy { all { } }
    input { name: "IN" data_type: TYPE_FP32 dims: [ 4 ] } output { name: "OUT" data_type: TYPE_FP32 dims: [ 4 ] }
    ensemble_scheduling { ${step('m')} }`
  const files = { ...MODEL, 'e/config.pbtxt': ensemble, 'e/1/': '', 'e/2/': '', 'e/traffic.json': canary() }
  const { engine } = await setUp(files)
  await engine.load('e')
  const versions: Record<string, number> = {}
  for (let i = 0; i < 50; i++) {
    const { version } = await engine.infer(testRequest('e', [floats('IN', [1, 4], 7)]))
    versions[version] = (versions[version] ?? 0) + 1
  }
  expect(versions).toEqual({ 1: 45, 2: 5 })
})

it('does not wait for a shadow when the server stops or the policy goes', async () => {
  const policy = { split: { 1: 100 }, shadow: { version: 2 } }
  const { engine, backend } = await setUp({ ...MODEL, 'm/traffic.json': JSON.stringify(policy) })
  const signals: (AbortSignal | undefined)[] = []
  backend.does.set('2', (batch) => {
    const { signal } = batch.requests[0] ?? {}
    signals.push(signal)
    return new Promise((resolve) => signal?.addEventListener('abort', () => resolve([])))
  })
  await count(engine, 1)
  await vi.waitFor(() => expect(signals).toHaveLength(1))
  await engine.setTraffic('m', policy)
  expect(signals[0]?.aborted).toBe(true)
  await count(engine, 1)
  await vi.waitFor(() => expect(signals).toHaveLength(2))
  expect(await engine.stop(5)).toBe(true)
})

it('copies a sequence as a whole, in its order, to the shadow', async () => {
  const policy = { split: { 1: 100 }, shadow: { version: 2, percent: 50 } }
  const { engine, backend } = await setUp({ ...MODEL, 'm/traffic.json': JSON.stringify(policy) })
  const copies: string[] = []
  backend.does.set('2', (batch, config) => {
    for (const { request } of batch.requests) copies.push(`${request.sequenceId} ${request.id}`)
    return copyInputs(batch, config)
  })
  for (const step of ['first', 'second', 'last']) {
    for (const sequenceId of [1n, 2n, 3n, 4n]) {
      const flags = { sequenceStart: step === 'first', sequenceEnd: step === 'last' }
      await ask(engine, { sequenceId, id: step, ...flags })
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await vi.waitFor(() => expect(copies).toHaveLength(6))
  const byId = Map.groupBy(copies, (copy) => copy.split(' ')[0])
  expect([...byId.values()].map((steps) => steps.map((copy) => copy.split(' ')[1]))).toEqual([
    ['first', 'second', 'last'],
    ['first', 'second', 'last'],
  ])
})

it('splits what models ask of models, and hands them a label', async () => {
  const { engine, backend } = await setUp({
    ...MODEL,
    'n/config.pbtxt': fakeConfig(),
    'n/1/model.bin': '',
    'm/traffic.json': canary(),
  })
  const versions: string[] = []
  let version = ''
  let calls: EngineCalls | undefined
  backend.onLoad = (_, context) => void (calls = context.engine)
  await engine.load('n')
  backend.execute = async (batch, config) => {
    if (config.name !== 'n') return copyInputs(batch, config)
    const chain = batch.requests[0]?.chain ?? []
    const request = testRequest('m', [floats('IN', [1, 4], 7)], { version })
    const response = await calls?.infer(request, { signal: undefined, chain, onResponse: undefined })
    versions.push(response?.version ?? '')
    return copyInputs(batch, config)
  }
  backend.does.clear()
  for (let i = 0; i < 20; i++) await engine.infer(testRequest('n', [floats('IN', [1, 4])]))
  expect(versions.filter((one) => one === '2')).toHaveLength(2)
  version = 'canary'
  await engine.infer(testRequest('n', [floats('IN', [1, 4])]))
  expect(versions.at(-1)).toBe('2')
})
