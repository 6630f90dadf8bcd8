import { ConchError } from '@conch/protocol'
import type { InferRequest, InferResponse } from '@conch/protocol'
import { afterEach, expect, it, vi } from 'vitest'
import type { Batch, BatchAnswers, EngineCalls, NestedCall } from './backend/contract.ts'
import { createEngine } from './engine.ts'
import { copyInputs, FakeBackend, fakeConfig, floats, makeDirectory } from './testing.ts'
import { onlyBackends, testOptions, testRequest } from './testing.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

const request = (model: string, change: Partial<InferRequest> = {}) =>
  testRequest(model, [floats('IN', [1, 4], 1)], change)
const DECOUPLED = 'model_transaction_policy { decoupled: true }'

/** What a model does with its batch; those not named copy their inputs. */
type Behaviour = (batch: Batch, engine: EngineCalls) => BatchAnswers | Promise<BatchAnswers>

async function setUp(models: Readonly<Record<string, string>>, behaviours: Readonly<Record<string, Behaviour>>) {
  const files = Object.entries(models).flatMap(([name, config]) => [
    [`${name}/config.pbtxt`, config],
    [`${name}/1/a`, ''],
  ])
  const repository = await makeDirectory(Object.fromEntries(files) as Record<string, string>)
  cleanups.push(repository.remove)
  const backend = new FakeBackend()
  let calls: EngineCalls | undefined
  backend.onLoad = (_, context) => void (calls = context.engine)
  backend.execute = (batch, config) => {
    const behaviour = behaviours[config.name]
    return behaviour === undefined || calls === undefined ? copyInputs(batch, config) : behaviour(batch, calls)
  }
  const options = testOptions([repository.directory], { startupModels: ['*'] })
  const engine = createEngine(options, { findBackend: onlyBackends(backend) })
  cleanups.push(() => engine.stop(1))
  expect(await engine.start()).toBe(true)
  const asked = () => {
    if (calls === undefined) throw new Error('nothing was loaded')
    return calls
  }
  return { engine, calls: asked }
}

/** Asks the next model on behalf of the batch's first request and hands on what it says. */
const ask =
  (next: (batch: Batch) => InferRequest | undefined, change: Partial<NestedCall> = {}): Behaviour =>
  async (batch, engine) => {
    const [first] = batch.requests
    const inner = next(batch)
    if (first === undefined || inner === undefined)
      return batch.requests.map(() => ({ outputs: [floats('OUT', [1, 4], 7)] }))
    const { signal, chain } = first
    const response = await engine.infer(inner, { signal, chain, onResponse: undefined, ...change })
    return batch.requests.map(() => ({ outputs: response?.outputs ?? [] }))
  }
const copies = (count: number) => fakeConfig().replace('count: 1', `count: ${count}`)

it('runs a request on behalf of another, and both are counted', async () => {
  const seen: unknown[] = []
  const { engine } = await setUp(
    { a: fakeConfig(), b: fakeConfig() },
    {
      a: ask(() => request('b', { id: 'inner', sequenceId: 9n, timeout: 5, priority: 0, parameters: { x: 1 } })),
      b: (batch) => {
        const [one] = batch.requests
        seen.push(
          [...(one?.chain ?? [])],
          one?.request.id,
          one?.request.sequenceId,
          one?.request.timeout,
          one?.request.parameters,
        )
        return [{ outputs: [floats('OUT', [1, 4], 3)] }]
      },
    },
  )
  expect((await engine.infer(request('a'))).outputs).toEqual([floats('OUT', [1, 4], 3)])
  expect(seen).toEqual([['a', 'b'], 'inner', 9n, 5, { x: 1 }])
  for (const model of ['a', 'b']) {
    expect(engine.statistics(model, '')).toMatchObject([
      { inference_count: 1, inference_stats: { success: { count: 1 } } },
    ])
  }
})

it('tells what was wrong with a call in the words of the original', async () => {
  const { engine } = await setUp(
    { a: fakeConfig(), dec: fakeConfig(DECOUPLED), fails: fakeConfig() },
    {
      a: async (batch, calls) => {
        const [first] = batch.requests
        if (first === undefined) throw new Error('an empty batch')
        const { chain, signal, request: outer } = first
        const inner = request(outer.id === 'odd' ? 'fails' : outer.id, outer.id === 'odd' ? { inputs: [] } : {})
        await calls.infer(inner, { chain, signal, onResponse: undefined })
        throw new Error('it was answered')
      },
      fails: () => [{ error: new ConchError('NOT_FOUND', 'its own words') }],
    },
  )
  const tell = async (id: string) => {
    const error = await engine.infer(request('a', { id })).catch((caught: unknown) => caught)
    return error instanceof ConchError ? `${error.code} ${error.message}` : String(error)
  }
  const prefix = (model: string) => `INTERNAL Model ${model} - Error when running inference: `
  expect(await tell('gone')).toBe(
    `${prefix('gone')}Failed for execute the inference request. Model 'gone' is not ready.`,
  )
  expect(await tell('dec')).toBe(
    `${prefix('dec')}Model dec is using the decoupled. The current BLS request call doesn't support models using the ` +
      "decoupled transaction policy. Please use 'decoupled=True' argument to the 'exec' or 'async_exec' calls for decoupled models.'",
  )
  expect(await tell('odd')).toContain(`${prefix('fails')}[request id: <id_unknown>] expected 1 inputs but got 0 inputs`)
  expect(await tell('fails')).toBe('NOT_FOUND its own words')
})

it('hands over every response of a decoupled model, errors among them', async () => {
  const got: unknown[] = []
  const note = (what: InferResponse | ConchError) => void got.push(what instanceof ConchError ? what.message : what.id)
  const { engine } = await setUp(
    { a: fakeConfig(), dec: fakeConfig(DECOUPLED) },
    {
      a: ask(() => request('dec'), { onResponse: note, onError: note }),
      dec: ({ requests: [one] }) => {
        const answer = (id: string) => ({ model: 'dec', version: '1', id, parameters: {}, outputs: [] })
        one?.respond(answer('first'), false)
        one?.respondError(new ConchError('INTERNAL', 'second'))
        one?.respond(answer('third'), true)
        return 'responded'
      },
    },
  )
  await engine.infer(request('a'))
  expect(got).toEqual(['first', 'second', 'third'])
})

it('refuses a call that would wait for itself', async () => {
  const { engine } = await setUp(
    { a: fakeConfig(), b: fakeConfig() },
    { a: ask(() => request('b')), b: ask(() => request('a')) },
  )
  await expect(engine.infer(request('a'))).rejects.toThrow(
    "Model a - Error when running inference: it would wait for itself: a → b → a. Model 'a' has to answer this call, and its only instance waits for it",
  )
  await expect(engine.infer(request('b'))).rejects.toThrow('b → a → b')
})

it('lets a model call itself while it has instances left', async () => {
  const depth = (limit: number) =>
    ask(({ requests: [one] }) => ((one?.chain.length ?? 0) < limit ? request('a') : undefined))
  const { engine } = await setUp({ a: copies(3) }, { a: depth(3) })
  expect((await engine.infer(request('a'))).outputs).toEqual([floats('OUT', [1, 4], 7)])
  const deeper = await setUp({ a: copies(3) }, { a: depth(4) })
  await expect(deeper.engine.infer(request('a'))).rejects.toThrow('a → a → a → a')
  await vi.waitFor(() => expect(deeper.engine.liveSamples()).toMatchObject([{ inflight: 0, pending: 0 }]))
})

it('ends what never ends', async () => {
  const { engine } = await setUp({ a: copies(40) }, { a: ask(() => request('a')) })
  await expect(engine.infer(request('a'))).rejects.toThrow('more than 16 models wait for each other: a → a')
})

it('sees when two requests wait for each other', async () => {
  // Each takes one of the two instances of `a` and wants the other one, through `b`.
  const { promise: both, resolve } = Promise.withResolvers<void>()
  let entered = 0
  const { engine } = await setUp(
    { a: copies(2), b: copies(2) },
    {
      a: async (batch, calls) => {
        entered += 1
        if (entered === 2) resolve()
        await both
        return ask(({ requests: [one] }) => ((one?.chain.length ?? 0) < 3 ? request('b') : undefined))(batch, calls)
      },
      b: ask(() => request('a')),
    },
  )
  const ends = await Promise.allSettled([engine.infer(request('a')), engine.infer(request('a'))])
  const refused = ends.filter((end) => end.status === 'rejected').map(({ reason }) => String(reason))
  expect(refused).toHaveLength(1)
  expect(refused[0]).toContain('it would wait for itself: a → b → a')
  expect(refused[0]).toContain('all its 2 instances wait for it')
})

it('waits for a busy instance that will be free', async () => {
  // The only instance of `b` works for somebody else meanwhile; that is no circle.
  const { engine } = await setUp(
    { a: copies(4), b: fakeConfig() },
    {
      a: ask(() => request('b')),
      b: async (batch) => {
        await Promise.resolve()
        return batch.requests.map(() => ({ outputs: [] }))
      },
    },
  )
  const ends = await Promise.allSettled(Array.from({ length: 20 }, () => engine.infer(request('a'))))
  expect(ends.every((end) => end.status === 'fulfilled')).toBe(true)
})

it('knows that a decoupled model has left its instance', async () => {
  const { engine } = await setUp(
    { dec: fakeConfig(DECOUPLED) },
    {
      dec: ({ requests: [one] }, calls) => {
        if (one === undefined || one.chain.length > 1) {
          one?.respond({ model: 'dec', version: '1', id: 'inner', parameters: {}, outputs: [] }, true)
          return 'responded'
        }
        const { chain, signal } = one
        const onResponse = (response: InferResponse) => one.respond(response, false)
        setImmediate(() => {
          calls.infer(request('dec'), { chain, signal, onResponse }).then(
            () => one.respond(undefined, true),
            (error: unknown) => one.fail(error, 'backend'),
          )
        })
        return 'responded'
      },
    },
  )
  const got: string[] = []
  await engine.stream(request('dec'), ({ id }) => void got.push(id))
  expect(got).toEqual(['inner'])
})

it('sees circles through ensembles', async () => {
  const ensemble = `platform: "ensemble"
max_batch_size: 8
input { name: "X" data_type: TYPE_FP32 dims: [ 4 ] }
output { name: "Y" data_type: TYPE_FP32 dims: [ 4 ] }
ensemble_scheduling { step { model_name: "a" model_version: -1 input_map { key: "IN" value: "X" } output_map { key: "OUT" value: "Y" } } }`
  const { engine } = await setUp(
    { a: fakeConfig(), pipe: ensemble },
    { a: ask(() => testRequest('pipe', [floats('X', [1, 4])])) },
  )
  await expect(engine.infer(request('a'))).rejects.toThrow('it would wait for itself: a → pipe → a')
})

it('cancels what was asked on behalf of a cancelled request', async () => {
  const { promise, resolve } = Promise.withResolvers<AbortSignal | undefined>()
  const { engine } = await setUp(
    { a: fakeConfig(), b: fakeConfig() },
    {
      a: ask(() => request('b')),
      b: async ({ signal }) => {
        resolve(signal)
        await new Promise((stop) => signal?.addEventListener('abort', stop))
        throw new ConchError('CANCELLED', 'stopped')
      },
    },
  )
  const controller = new AbortController()
  const end = engine.infer(request('a'), { signal: controller.signal })
  await promise
  controller.abort()
  await expect(end).rejects.toMatchObject({ code: 'CANCELLED' })
})

it('loads, unloads and asks for models, and makes metrics', async () => {
  const { engine, calls } = await setUp({ a: fakeConfig() }, {})
  expect([await calls().isReady('a', ''), await calls().isReady('nope', ''), await calls().isReady('a', '7')]).toEqual([
    true,
    false,
    false,
  ])
  await calls().unload('a', false)
  await vi.waitFor(async () => expect(await calls().isReady('a', '')).toBe(false))
  await calls().load('a', {})
  expect(await calls().isReady('a', '')).toBe(true)
  const gauge = calls().createFamily('gauge', 'mine', 'what I count').createSeries({ k: 'v' }, undefined)
  gauge.set(4)
  expect(await engine.metricsText()).toContain('# TYPE mine gauge\nmine{k="v"} 4\n')
})

it('lets requests in flight ask other models while the server ends, and no clients', async () => {
  const { promise: go, resolve } = Promise.withResolvers<void>()
  const { engine } = await setUp(
    { a: fakeConfig(), b: fakeConfig() },
    {
      a: async (batch, calls) => {
        await go
        return ask(() => request('b'))(batch, calls)
      },
    },
  )
  const end = engine.infer(request('a'))
  const stopped = engine.stop(5)
  await new Promise(setImmediate)
  await expect(engine.infer(request('b'))).rejects.toThrow('has stopped accepting new inference requests')
  resolve()
  expect((await end).outputs).toEqual([floats('OUT', [1, 4], 1)])
  expect(await stopped).toBe(true)
})
