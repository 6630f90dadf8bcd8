import { ConchError } from '@conch/protocol'
import type { InferResponse, ModelConfig } from '@conch/protocol'
import { afterEach, expect, it, vi } from 'vitest'
import type { Batch, BatchAnswers } from './backend/contract.ts'
import { createEngine } from './engine.ts'
import type { ActiveRequest } from './request.ts'
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

const tensor = (kind: string, name: string, extra = '') =>
  `${kind} { name: "${name}" data_type: TYPE_FP32 dims: [ 1 ] ${extra} }\n`
const map = (kind: string, names: Record<string, string>) =>
  Object.entries(names)
    .map(([key, value]) => `${kind} { key: "${key}" value: "${value}" }`)
    .join(' ')
const step = (model: string, inputs: Record<string, string>, outputs: Record<string, string>) =>
  `step { model_name: "${model}" model_version: -1 ${map('input_map', inputs)} ${map('output_map', outputs)} }\n`
const ensemble = (steps: string, extra = '', outputs = tensor('output', 'Y')) =>
  `platform: "ensemble" max_batch_size: 0 ${tensor('input', 'X')} ${outputs} ensemble_scheduling { ${steps} ${extra} }`
const model = (extra = '', inputs = '', outputs = '') =>
  fakeConfig(extra, '1', 0).replace('input {', `${inputs}input {`).replace('output {', `${outputs}output {`)
const DECOUPLED = 'model_transaction_policy { decoupled: true }'

const valueOf = ({ data }: { readonly data: Uint8Array }) =>
  new DataView(data.buffer, data.byteOffset).getFloat32(0, true)
const inputOf = ({ request }: ActiveRequest, name = 'IN') => {
  const found = request.inputs.find((input) => input.name === name)
  return found === undefined ? NaN : valueOf(found)
}
const answer = (value: number, name = 'OUT') => ({ outputs: [floats(name, [1], value)] })

type Model = (batch: Batch, config: ModelConfig) => BatchAnswers | Promise<BatchAnswers>
/** Sends IN + 0, IN + 1, … : as many as `count`. */
const count =
  (many: (value: number) => number): Model =>
  (batch, config) => {
    for (const request of batch.requests) {
      const value = inputOf(request)
      for (let i = 0; i < many(value); i++) {
        const response = {
          model: config.name,
          version: '1',
          id: '',
          parameters: {},
          outputs: answer(value + i).outputs,
        }
        request.respond(response, false)
      }
      request.respond(undefined, true)
    }
    return 'responded'
  }

async function setUp(configs: Record<string, string>, models: Record<string, Model> = {}) {
  const files: Record<string, string> = {}
  for (const [name, config] of Object.entries(configs)) {
    files[`${name}/config.pbtxt`] = config
    files[`${name}/1/x`] = ''
  }
  const repository = await makeDirectory(files)
  cleanups.push(repository.remove)
  const backend = new FakeBackend()
  backend.execute = (batch, config) => (models[config.name] ?? copyInputs)(batch, config)
  const options = testOptions([repository.directory], { controlMode: 'none' })
  const engine = createEngine(options, { findBackend: onlyBackends(backend) })
  cleanups.push(() => engine.stop(1))
  await engine.start()
  const request = (value: number, change = {}) => testRequest('e', [floats('X', [1], value)], { id: 'r', ...change })
  const stream = async (value: number, change = {}) => {
    const responses: InferResponse[] = []
    await engine.stream(request(value, change), (response) => void responses.push(response))
    return responses
  }
  const values = async (value: number) => (await stream(value)).map(({ outputs }) => outputs.map(valueOf))
  return { engine, backend, request, stream, values, lines: options.lines }
}

const DOUBLE: Model = ({ requests }) => requests.map((request) => answer(inputOf(request) * 2))
const CHAIN = { many: model(DECOUPLED), double: model() }

it.each([0, 1, 4])('carries %d responses of a decoupled step on, in order', async (n) => {
  const models = { many: count(() => n), double: DOUBLE }
  const { values, engine } = await setUp(
    { ...CHAIN, e: ensemble(step('many', { IN: 'X' }, { OUT: 'n' }) + step('double', { IN: 'n' }, { OUT: 'Y' })) },
    models,
  )
  expect(engine.config('e', '').model_transaction_policy).toEqual({ decoupled: true })
  expect(await values(10)).toEqual(Array.from({ length: n }, (_, i) => [20 + 2 * i]))
  expect(engine.statistics('e', '')[0]?.inference_stats.success.count).toBe(1)
  expect(engine.statistics('double', '')[0]?.inference_stats.success.count).toBe(n)
})

it('keeps the order when later steps overtake each other', async () => {
  const slow: Model = async ({ requests }) => {
    const [request] = requests
    const value = request === undefined ? 0 : inputOf(request)
    await new Promise((resolve) => setTimeout(resolve, 12 - 4 * value))
    return [answer(value)]
  }
  const { values } = await setUp(
    {
      many: model(DECOUPLED),
      slow: model().replace('count: 1', 'count: 3'),
      e: ensemble(step('many', { IN: 'X' }, { OUT: 'n' }) + step('slow', { IN: 'n' }, { OUT: 'Y' })),
    },
    { many: count(() => 3), slow },
  )
  expect(await values(0)).toEqual([[0], [1], [2]])
})

it('numbers what decoupled steps make of decoupled steps one after the other', async () => {
  const { values } = await setUp(
    {
      many: model(DECOUPLED),
      more: model(DECOUPLED),
      e: ensemble(step('many', { IN: 'X' }, { OUT: 'n' }) + step('more', { IN: 'n' }, { OUT: 'Y' })),
    },
    { many: count(() => 3), more: count((value) => value) },
  )
  expect(await values(1)).toEqual([[1], [2], [3], [3], [4], [5]])
})

it('joins responses of one step by number, and a single tensor with all of them', async () => {
  const sum: Model = ({ requests }) =>
    requests.map((request) => answer(100 * inputOf(request, 'IN2') + inputOf(request)))
  const pair = model('', tensor('input', 'IN2'))
  const steps =
    step('many', { IN: 'X' }, { OUT: 'n' }) +
    step('double', { IN: 'n' }, { OUT: 'd' }) +
    step('pair', { IN: 'd', IN2: 'n' }, { OUT: 'Y' }) +
    step('other', { IN: 'n', IN2: 'X' }, { OUT: 'Z' })
  const { values } = await setUp(
    { ...CHAIN, pair, other: pair, e: ensemble(steps, '', tensor('output', 'Y') + tensor('output', 'Z')) },
    { many: count(() => 2), double: DOUBLE, pair: sum, other: sum },
  )
  expect(await values(3)).toEqual([
    [306, 303],
    [408, 304],
  ])
})

it('is decoupled when a nested ensemble is', async () => {
  const inner = ensemble(step('many', { IN: 'X' }, { OUT: 'n' }) + step('double', { IN: 'n' }, { OUT: 'Y' }))
  const { values, engine } = await setUp(
    { ...CHAIN, inner, e: ensemble(step('inner', { X: 'X' }, { Y: 'Y' })) },
    { many: count(() => 2), double: DOUBLE },
  )
  expect(engine.config('e', '').model_transaction_policy).toEqual({ decoupled: true })
  expect(await values(1)).toEqual([[2], [4]])
})

it('fails with the first error, and starts nothing after it', async () => {
  const picky: Model = ({ requests }) =>
    requests.map((request) => {
      return inputOf(request) === 1
        ? { error: new ConchError('INVALID_ARG', 'one is not allowed') }
        : answer(inputOf(request))
    })
  const { stream, engine } = await setUp(
    {
      many: model(DECOUPLED),
      picky: model(),
      e: ensemble(step('many', { IN: 'X' }, { OUT: 'n' }) + step('picky', { IN: 'n' }, { OUT: 'Y' })),
    },
    { many: count(() => 4), picky },
  )
  await expect(stream(1)).rejects.toMatchObject({
    code: 'INVALID_ARG',
    message: "in ensemble 'e', one is not allowed (step 2 'picky')",
  })
  expect(engine.statistics('e', '')[0]?.inference_stats).toMatchObject({ success: { count: 0 }, fail: { count: 1 } })
})

it('names the way to a step through nested ensembles', async () => {
  const inner = ensemble(step('double', { IN: 'X' }, { OUT: 'mid' }) + step('bad', { IN: 'mid' }, { OUT: 'Y' }))
  const { engine, request } = await setUp(
    { double: model(), bad: model(), inner, e: ensemble(step('inner', { X: 'X' }, { Y: 'Y' })) },
    { bad: () => [{ error: new ConchError('INVALID_ARG', 'no') }] },
  )
  await expect(engine.infer(request(1))).rejects.toThrow(
    "in ensemble 'e', in ensemble 'inner', no (step 1 'inner', step 2 'bad')",
  )
})

it('says which step owed a tensor', async () => {
  const { engine, request } = await setUp(
    {
      silent: model(),
      double: model(),
      e: ensemble(step('silent', { IN: 'X' }, { OUT: 'mid' }) + step('double', { IN: 'mid' }, { OUT: 'Y' })),
    },
    { silent: () => [{ outputs: [] }] },
  )
  await expect(engine.infer(request(1))).rejects.toThrow(
    /^in ensemble 'e', .*expected 1 inputs but got 0 inputs for model 'double'.* step 1 'silent' did not produce tensor 'mid' \(step 2 'double'\)$/,
  )
})

it('leaves out what an optional input was not given', async () => {
  const optional = model('', tensor('input', 'IN2', 'optional: true'))
  const { engine, request } = await setUp(
    {
      silent: model(),
      opt: optional,
      e: ensemble(step('silent', { IN: 'X' }, { OUT: 'mid' }) + step('opt', { IN: 'X', IN2: 'mid' }, { OUT: 'Y' })),
    },
    {
      silent: () => [{ outputs: [] }],
      opt: ({ requests }) => requests.map((one) => answer(one.request.inputs.length)),
    },
  )
  expect((await engine.infer(request(1))).outputs.map(valueOf)).toEqual([1])
})

it('hands id, priority, timeout and parameters to its steps; what a step says about sequences goes on', async () => {
  const seen: unknown[] = []
  const note: Model = ({ requests }) => {
    return requests.map((one) => {
      const { id, priority, timeout, parameters, sequenceId, sequenceStart, sequenceEnd } = one.request
      seen.push({ id, priority, timeout, parameters, sequenceId, sequenceStart, sequenceEnd })
      return { ...answer(1), parameters: seen.length === 1 ? { sequence_id: 9n, sequence_end: true } : {} }
    })
  }
  const steps = step('first', { IN: 'X' }, { OUT: 'mid' }) + step('second', { IN: 'mid' }, { OUT: 'Y' })
  const { engine, request } = await setUp(
    { first: model(), second: model(), e: ensemble(steps) },
    { first: note, second: note },
  )
  const change = { priority: 2, timeout: 7, parameters: { mine: 'x' }, sequenceId: 5n, sequenceStart: true }
  await engine.infer(request(1, change))
  const same = { id: 'r', priority: 2, timeout: 7, parameters: { mine: 'x' }, sequenceStart: true }
  expect(seen).toEqual([
    { ...same, sequenceId: 5n, sequenceEnd: false },
    { ...same, sequenceId: 9n, sequenceEnd: true },
  ])
})

it('starts nothing more for a client that has gone, and is counted as cancelled', async () => {
  const client = new AbortController()
  const ran: string[] = []
  const abort: Model = (batch, config) => {
    ran.push(config.name)
    client.abort()
    return copyInputs(batch, config)
  }
  const steps = step('first', { IN: 'X' }, { OUT: 'mid' }) + step('second', { IN: 'mid' }, { OUT: 'Y' })
  const { engine, request } = await setUp(
    { first: model(), second: model(), e: ensemble(steps) },
    { first: abort, second: abort },
  )
  await expect(engine.infer(request(1), { signal: client.signal })).rejects.toMatchObject({
    code: 'CANCELLED',
    message: "in ensemble 'e', ",
  })
  expect(ran).toEqual(['first'])
  expect(engine.liveSamples().find(({ model: name }) => name === 'e')?.failures.CANCELED).toBe(1)
})

it('runs no more requests of a step at once than it may', async () => {
  let running = 0
  let most = 0
  const slow: Model = async (batch, config) => {
    most = Math.max(most, ++running)
    await new Promise((resolve) => setTimeout(resolve, 2))
    running -= 1
    return copyInputs(batch, config)
  }
  const { engine, request, values, lines } = await setUp(
    {
      many: model(DECOUPLED),
      slow: model().replace('count: 1', 'count: 8'),
      e: ensemble(
        step('many', { IN: 'X' }, { OUT: 'n' }) + step('slow', { IN: 'n' }, { OUT: 'Y' }),
        'max_inflight_requests: 2',
      ),
    },
    { many: count(() => 6), slow },
  )
  const client = new AbortController()
  const gone = engine.stream(request(0), () => undefined, { signal: client.signal })
  const [a, b] = [values(0), values(10)]
  client.abort()
  await expect(gone).rejects.toMatchObject({ code: 'CANCELLED' })
  expect(await a).toEqual([[0], [1], [2], [3], [4], [5]])
  expect(await b).toEqual([[10], [11], [12], [13], [14], [15]])
  expect(most).toBe(2)
  expect(lines).toContain("info Ensemble model 'e' configured with max_inflight_requests: 2")
})

it('refuses a step that takes from two decoupled models', async () => {
  const pair = model('', tensor('input', 'IN2'))
  const steps =
    step('many', { IN: 'X' }, { OUT: 'n' }) +
    step('more', { IN: 'X' }, { OUT: 'm' }) +
    step('pair', { IN: 'n', IN2: 'm' }, { OUT: 'Y' })
  const { engine } = await setUp({ many: model(DECOUPLED), more: model(DECOUPLED), pair, e: ensemble(steps) })
  await vi.waitFor(async () => {
    const entry = (await engine.index(false)).find(({ name }) => name === 'e')
    expect(entry?.problem ?? entry?.reason).toContain(
      "in ensemble e, step of model 'pair' receives inputs originated from different decoupled models",
    )
  })
})
