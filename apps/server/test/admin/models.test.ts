import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fakeConfig, floats } from '@conch/engine/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStand, signUp, type Stand } from './stand.ts'

let stand: Stand
let admin: string
const CONFIG = fakeConfig('dynamic_batching { max_queue_delay_microseconds: 100 }\n')
beforeAll(async () => {
  stand = await openStand({
    files: {
      'one/config.pbtxt': CONFIG,
      'one/1/model.fake': 'x',
      'one/README.md': '# One\n<script>alert(1)</script>',
      'one/samples/first.json':
        '{"inputs": [{"name": "IN", "shape": [1, 4], "datatype": "FP32", "data": [1, 2, 3, 4]}]}',
      'labelled/config.pbtxt': fakeConfig().replace('name: "OUT"', 'name: "OUT" label_filename: "labels.txt"'),
      'labelled/labels.txt': 'cat\ndog\nowl\nbat\n',
      'labelled/1/model.fake': 'x',
      'bad/config.pbtxt': 'backend: "fake"\nmax_batch_sise: 4\n',
      'bad/1/model.fake': 'x',
    },
  })
  admin = await signUp(stand)
})
afterAll(() => stand.close())

const query = async (procedure: string, input?: unknown) =>
  (await stand.call('query', procedure, input, admin)).data as Record<string, unknown>
const change = (procedure: string, input: unknown) => stand.call('mutation', procedure, input, admin)

it('lists every model with its state, also the ones that do not load', async () => {
  const rows = (await query('models.list')) as unknown as Record<string, unknown>[]
  expect(rows.map(({ name, state }) => [name, state])).toEqual([
    ['bad', 'UNAVAILABLE'],
    ['labelled', 'READY'],
    ['one', 'READY'],
  ])
  expect(rows[0]?.['reason']).toContain('max_batch_sise')
  expect(rows[2]).toMatchObject({
    backend: 'fake',
    maxBatchSize: 8,
    batching: 'dynamic',
    instances: 1,
    kind: 'CPU',
    rps: 0,
    p95Us: null,
    errorRate: 0,
    requests: 0,
  })
})

it('shows one model: config with origins, files, sample, readme', async () => {
  const model = await query('models.get', { model: 'one' })
  expect(model).toMatchObject({
    state: 'READY',
    metadata: { inputs: [{ name: 'IN', datatype: 'FP32', shape: [-1, 4] }] },
    config: { name: 'one', max_batch_size: 8, dynamic_batching: { max_queue_delay_microseconds: '100' } },
    configText: CONFIG,
    problems: [],
    samples: [{ name: 'first.json', path: 'samples/first.json' }],
    readme: '# One\n<script>alert(1)</script>',
    writable: true,
    repository: 'models',
  })
  const origins = model['effective'] as { path: string; value: string; origin: string }[]
  expect(origins).toContainEqual({ path: 'max_batch_size', value: '8', origin: 'file' })
  expect(origins).toContainEqual({ path: 'version_policy.latest.num_versions', value: '1', origin: 'default' })
  expect((model['files'] as { path: string }[]).map(({ path }) => path)).toEqual([
    '1/model.fake',
    'README.md',
    'config.pbtxt',
    'samples/first.json',
  ])
  expect((await query('models.get', { model: 'labelled' }))['labels']).toEqual({ OUT: ['cat', 'dog', 'owl', 'bat'] })
  const bad = await query('models.get', { model: 'bad' })
  expect(bad).toMatchObject({ metadata: null, config: null, problems: [{ severity: 'error', line: 2 }] })
  expect((await stand.call('query', 'models.get', { model: 'none' }, admin)).status).toBe(404)
  expect((await stand.call('query', 'models.get', { model: '__proto__' }, admin)).status).toBe(404)
})

it('unloads, loads and tells both as events', async () => {
  const events: string[] = []
  const stop = stand.engine.onLifecycle(({ model, state }) => events.push(`${model} ${state}`))
  expect((await change('models.unload', { model: 'one' })).data).toMatchObject({ state: 'UNAVAILABLE' })
  expect((await change('models.load', { model: 'one' })).data).toMatchObject({ state: 'READY', reason: '' })
  expect((await change('models.reload', { model: 'one' })).data).toMatchObject({ state: 'READY' })
  stop()
  expect(events.filter((event) => event.startsWith('one'))).toEqual(
    expect.arrayContaining(['one UNAVAILABLE', 'one READY']),
  )
  const none = await change('models.load', { model: 'none' })
  expect([none.status, none.error?.data.conch.message]).toEqual([500, expect.stringContaining("failed to load 'none'")])
})

it('saves a config that loads, and returns to the old one when it does not', async () => {
  const read = () => readFile(join(stand.repository, 'one/config.pbtxt'), 'utf8')
  const { configHash } = await query('models.get', { model: 'one' })
  const better = CONFIG.replace('max_batch_size: 8', 'max_batch_size: 16')
  const saved = await change('config.save', { model: 'one', configText: better, expectedHash: configHash })
  expect(saved.data).toMatchObject({ state: 'READY', hash: expect.stringMatching(/^[0-9a-f]{32}$/) as string })
  expect([await read(), stand.engine.config('one', '').max_batch_size]).toEqual([better, 16])

  const stale = await change('config.save', { model: 'one', configText: CONFIG, expectedHash: configHash })
  expect([stale.status, await read()]).toEqual([409, better])

  const { hash } = saved.data as { hash: string }
  const wrong = await change('config.save', {
    model: 'one',
    configText: `${better}\nmax_batch_size: "x"\n`,
    expectedHash: hash,
  })
  expect([wrong.status, wrong.error?.data.conch.problems, await read()]).toMatchObject([
    400,
    [{ severity: 'error' }],
    better,
  ])

  stand.backend.onLoad = () => Promise.reject(new Error('not enough memory'))
  const failing = await change('config.save', { model: 'one', configText: CONFIG, expectedHash: hash })
  stand.backend.onLoad = () => undefined
  expect([failing.status, failing.error?.data.conch.message]).toEqual([
    400,
    expect.stringContaining('the old one stays'),
  ])
  expect([
    await read(),
    stand.engine.config('one', '').max_batch_size,
    await stand.engine.modelReady('one', ''),
  ]).toEqual([better, 16, true])
})

it('lets a broken model be mended', async () => {
  const { configHash } = await query('models.get', { model: 'bad' })
  const saved = await change('config.save', { model: 'bad', configText: fakeConfig(), expectedHash: configHash })
  expect(saved.data).toMatchObject({ state: 'READY' })
})

const request = (data: string) => `{"inputs": [{"name": "IN", "shape": [1, 4], "datatype": "FP32", "data": ${data}}]}`

it('asks a model as the HTTP port would, with times, statistics and labels', async () => {
  const answer = (await change('playground.infer', { model: 'labelled', request: request('[0.1, 0.7, -0, 0.2]') }))
    .data as Record<string, unknown>
  expect(answer).toMatchObject({
    status: 200,
    outputs: [{ name: 'OUT', shape: [1, 4], count: 4, preview: ['0.1', '0.7', '-0', '0.2'] }],
  })
  expect(answer['outputs']).toMatchObject([{ stats: { min: '-0', max: '0.7', mean: '0.25', nan: 0, zero: 1 } }])
  expect((answer['outputs'] as { topk: unknown[] }[])[0]?.topk.slice(0, 2)).toEqual([
    { index: 1, label: 'dog', value: '0.7' },
    { index: 3, label: 'bat', value: '0.2' },
  ])
  expect(JSON.parse(String(answer['response']))).toMatchObject({ model_name: 'labelled', model_version: '1' })
  const timing = answer['timing'] as Record<string, number>
  expect(timing['totalUs']).toBeGreaterThan(0)
  expect((await query('audit.list', { limit: 200, object: 'labelled' }))['rows']).toEqual([])
})

it('answers a refused request as an answer, with the text of the HTTP port', async () => {
  const wrong = (
    await change('playground.infer', { model: 'one', request: request('[1, 2, 3, 4]').replace('IN', 'NI') })
  ).data
  expect(wrong).toMatchObject({ status: 400, response: null, error: { code: 'INVALID_ARG', httpStatus: 400 } })
  expect((await change('playground.infer', { model: 'one', request: '{' })).data).toMatchObject({
    response: null,
    error: { message: expect.stringContaining('JSON') as string },
  })
  expect((await change('playground.infer', { model: 'none', request: request('[1, 2, 3, 4]') })).data).toMatchObject({
    error: { message: expect.stringContaining("'none'") as string },
  })
  stand.backend.execute = () => {
    throw new Error('/secret/path leaked')
  }
  const inner = await change('playground.infer', { model: 'one', request: request('[1, 2, 3, 4]') })
  stand.backend.execute = (batch) => batch.requests.map(() => ({ outputs: [floats('OUT', [1, 4])] }))
  expect(inner.data).toMatchObject({ status: 500 })
})

it('offers a sample when there is one, else a request that works', async () => {
  const sample = (await stand.call('query', 'playground.example', { model: 'one' }, admin)).data
  expect(sample).toContain('"data": [1, 2, 3, 4]')
  await mkdir(join(stand.base, 'samples/labelled'), { recursive: true })
  await writeFile(join(stand.base, 'samples/labelled/notes.json'), '{"not": "a request"}')
  const made = String((await stand.call('query', 'playground.example', { model: 'labelled' }, admin)).data)
  expect(JSON.parse(made)).toEqual({
    inputs: [{ name: 'IN', shape: [1, 4], datatype: 'FP32', data: [0.1, 0.2, 0.3, 0.4] }],
  })
  expect((await change('playground.infer', { model: 'labelled', request: made })).data).toMatchObject({ status: 200 })
  const text = (await stand.call('query', 'models.file', { model: 'labelled', path: '../samples/notes.json' }, admin))
    .data
  expect(text).toBe('{"not": "a request"}')
})

it('says in the modes that load by themselves how a change is taken up', async () => {
  const polled = await openStand({ engine: { controlMode: 'poll', pollSeconds: 1000 } })
  const cookie = await signUp(polled)
  const { configHash } = (await polled.call('query', 'models.get', { model: 'one' }, cookie)).data as {
    configHash: string
  }
  const saved = await polled.call(
    'mutation',
    'config.save',
    { model: 'one', configText: CONFIG, expectedHash: configHash },
    cookie,
  )
  expect(saved.data).toMatchObject({
    state: 'READY',
    reason: 'the server looks at its repositories every 15 s and takes it up by itself',
  })
  const load = await polled.call('mutation', 'models.load', { model: 'one' }, cookie)
  expect([load.status, load.error?.data.conch.code]).toEqual([503, 'UNAVAILABLE'])
  await polled.close()
})
