import { ConchError } from '@conch/protocol'
import type { InferResponse } from '@conch/protocol'
import { afterEach, expect, it, vi } from 'vitest'
import type { Batch } from './backend/contract.ts'
import { createEngine } from './engine.ts'
import type { ActiveRequest } from './request.ts'
import { FakeBackend, fakeConfig, floats, makeDirectory, onlyBackends, testOptions, testRequest } from './testing.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

const DECOUPLED = 'model_transaction_policy { decoupled: true }'

async function setUp(config = fakeConfig(DECOUPLED)) {
  const repository = await makeDirectory({ 'm/config.pbtxt': config, 'm/1/a': '' })
  cleanups.push(repository.remove)
  const backend = new FakeBackend()
  const open: ActiveRequest[] = []
  backend.execute = (batch: Batch) => {
    open.push(...batch.requests)
    return 'responded'
  }
  const options = testOptions([repository.directory], { startupModels: ['m'] })
  const engine = createEngine(options, { findBackend: onlyBackends(backend) })
  cleanups.push(() => engine.stop(1))
  await engine.start()
  const request = testRequest('m', [floats('IN', [1, 4], 1)], { id: 'x' })
  return { backend, engine, open, request, success: () => engine.statistics('m', '')[0]?.inference_stats.success.count }
}

function answer(value: number): InferResponse {
  return { model: 'm', version: '1', id: 'x', parameters: {}, outputs: [floats('OUT', [1, 4], value)] }
}

it('delivers every response of a request whose instance works on others meanwhile', async () => {
  const { engine, open, request, success } = await setUp()
  const got: InferResponse[][] = [[], []]
  const ends = got.map((list) => engine.stream(request, (response) => void list.push(response)))
  expect(open).toHaveLength(2)
  open[0]?.respond(answer(1), false)
  open[1]?.respond(answer(2), true)
  open[0]?.respond(answer(3), false)
  await ends[1]
  expect(success()).toBe(1)
  open[0]?.respond(undefined, true)
  open[0]?.respond(answer(4), false)
  await Promise.all(ends)
  expect(got).toEqual([[answer(1), answer(3)], [answer(2)]])
  expect(engine.statistics('m', '')).toMatchObject([{ inference_count: 2, execution_count: 2 }])
})

it('gives a stream without responses an end', async () => {
  const { engine, open, request } = await setUp()
  const end = engine.stream(request, () => expect.unreachable())
  open[0]?.respond(undefined, true)
  await expect(end).resolves.toBeUndefined()
})

it('tells errors between responses to whoever listens for them, and ends with the first otherwise', async () => {
  const { engine, open, request } = await setUp()
  const got: unknown[] = []
  const note = (what: unknown) => void got.push(what)
  const listening = engine.stream(request, note, { onError: note })
  const deaf = engine.stream(request, () => undefined)
  const error = new ConchError('INVALID_ARG', 'no second one')
  for (const one of open) {
    one.respond(answer(1), false)
    one.respondError(error)
    one.respond(answer(3), false)
    one.respond(undefined, true)
  }
  await listening
  expect(got).toEqual([answer(1), error, answer(3)])
  await expect(deaf).rejects.toBe(error)
})

it('keeps the times of a request in order when it is answered before its batch is over', async () => {
  const { backend, engine, request } = await setUp()
  const { promise, resolve } = Promise.withResolvers<'responded'>()
  backend.execute = (batch) => {
    for (const one of batch.requests) one.respond(answer(1), true)
    return promise
  }
  const timings = {
    start: 0,
    queued: 0,
    computeStart: 0,
    computeInputEnd: 0,
    computeOutputStart: 0,
    computeEnd: 0,
    end: 0,
  }
  await engine.stream(request, () => undefined, { timings })
  const before = { ...timings }
  resolve('responded')
  await promise
  expect(timings).toEqual(before)
  const { start, queued, computeStart, computeInputEnd, computeOutputStart, computeEnd, end } = timings
  const order = [start, queued, computeStart, computeInputEnd, computeOutputStart, computeEnd, end]
  expect(order).toEqual(order.toSorted((a, b) => a - b))
})

it('waits for open requests before it unloads, and a cancelled one is told to its model', async () => {
  const { backend, engine, open, request } = await setUp()
  const controller = new AbortController()
  const end = engine.stream(request, () => undefined, { signal: controller.signal })
  await engine.unload('m', false)
  await vi.waitFor(async () => expect(await engine.index(false)).toMatchObject([{ state: 'UNLOADING' }]))
  expect(backend.calls).not.toContain('close m_0_0')
  controller.abort()
  expect(open[0]?.signal?.aborted).toBe(true)
  open[0]?.fail(new ConchError('CANCELLED', 'stopped'), 'cancelled')
  await expect(end).rejects.toMatchObject({ code: 'CANCELLED' })
  await vi.waitFor(() => expect(backend.calls).toContain('close m_0_0'))
})

it('does not hold back answers in order for those that their model gives by itself', async () => {
  const { backend, engine, request } = await setUp(fakeConfig('dynamic_batching { preserve_ordering: true }'))
  const open: ActiveRequest[] = []
  const queue = [() => 'responded' as const, (batch: Batch) => batch.requests.map(() => ({ outputs: [] }))]
  backend.execute = (batch) => {
    open.push(...batch.requests)
    return queue.shift()?.(batch) ?? []
  }
  const first = engine.infer(request)
  await expect(engine.infer(request)).resolves.toMatchObject({ id: 'x' })
  open[0]?.respond(answer(1), true)
  await expect(first).resolves.toEqual(answer(1))
})

it('counts executions that the model failed', async () => {
  const { backend, engine, request } = await setUp(fakeConfig())
  backend.execute = (batch) => {
    batch.computeInputEnd = performance.now()
    throw new ConchError('INTERNAL', 'boom')
  }
  await expect(engine.infer(request)).rejects.toThrow('boom')
  expect(engine.statistics('m', '')).toMatchObject([
    { inference_count: 0, execution_count: 1, inference_stats: { fail: { count: 1 } } },
  ])
})
