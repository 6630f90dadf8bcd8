import { mkdir, readFile, rm, symlink, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { ConchError } from '@conch/protocol'
import { afterEach, expect, it, vi } from 'vitest'
import { createEngine } from './engine.ts'
import type { Engine, EngineOptions } from './contract.ts'
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
  (await engine.index(false)).find((entry) => entry.name === name && (entry.version ?? version) === version)
const ask = (engine: Engine, version = '') => engine.infer(testRequest('m', [floats('IN', [1, 4], 7)], { version }))
const unloaded = async (engine: Engine, name: string, version = '1') =>
  vi.waitFor(async () =>
    expect(await state(engine, name, version)).toMatchObject({ state: 'UNAVAILABLE', reason: 'unloaded' }),
  )

/** Sets a file's modification a minute ahead, so that two writes within one tick differ. */
let ahead = 0
async function touch(path: string): Promise<void> {
  ahead += 60
  const at = Date.now() / 1_000 + ahead
  await utimes(path, at, at)
}

it('does nothing on a second load of an unchanged model', async () => {
  const { engine, backend, lines } = await setUp({ 'm/config.pbtxt': fakeConfig(), 'm/1/model.bin': '' })
  await engine.start()
  await engine.load('m')
  const before = [backend.calls.length, lines.length]
  await engine.load('m')
  expect([backend.calls.length, lines.length]).toEqual(before)
})

it('changes only the instances when only they changed', async () => {
  const { engine, backend, repository } = await setUp({ 'm/config.pbtxt': fakeConfig(), 'm/1/model.bin': '' })
  await engine.start()
  await engine.load('m')
  await ask(engine)
  await repository.put('m/config.pbtxt', fakeConfig().replace('count: 1', 'count: 3'))
  await touch(join(repository.directory, 'm/config.pbtxt'))
  await engine.load('m')
  expect(backend.calls.filter((call) => call.startsWith('load'))).toHaveLength(1)
  expect(backend.calls.filter((call) => call.startsWith('create'))).toHaveLength(3)
  expect(engine.config('m', '').instance_group[0]?.count).toBe(3)
  // Not a new version: its statistics go on.
  expect(engine.statistics('m', '')[0]?.inference_count).toBe(1)
  await repository.put('m/config.pbtxt', fakeConfig())
  await touch(join(repository.directory, 'm/config.pbtxt'))
  await engine.load('m')
  expect(backend.calls.filter((call) => call.startsWith('close'))).toHaveLength(2)
  await ask(engine)
})

it('replaces a changed model without a gap; the old one finishes what it began', async () => {
  const { engine, backend, repository } = await setUp({ 'm/config.pbtxt': fakeConfig(), 'm/1/model.bin': '' })
  await engine.start()
  await engine.load('m')
  const running = Promise.withResolvers<void>()
  const plain = backend.execute
  backend.execute = async (batch, config) => {
    await running.promise
    return plain(batch, config)
  }
  const first = ask(engine)
  backend.execute = plain
  await repository.put('m/1/model.bin', 'new')
  await touch(join(repository.directory, 'm/1/model.bin'))
  const loading = engine.load('m')
  expect(await state(engine, 'm')).toMatchObject({ state: 'READY' })
  await loading
  await ask(engine)
  expect(backend.calls).not.toContain('unload m:1')
  running.resolve()
  expect((await first).outputs).toHaveLength(1)
  await vi.waitFor(() => expect(backend.calls).toContain('unload m:1'))
  expect(engine.statistics('m', '')[0]?.inference_count).toBe(1)
})

it('keeps the old one when a reload fails, and tries again with the next load', async () => {
  const { engine, backend, repository, lines } = await setUp({ 'm/config.pbtxt': fakeConfig(), 'm/1/model.bin': '' })
  await engine.start()
  await engine.load('m')
  backend.onLoad = () => {
    throw new ConchError('INVALID_ARG', 'no weights')
  }
  await repository.put('m/1/other.bin', '')
  await touch(join(repository.directory, 'm/1'))
  const message = "load failed for model 'm': version 1 is at UNAVAILABLE state: Invalid argument: no weights;\n"
  await expect(engine.load('m')).rejects.toMatchObject({ code: 'INVALID_ARG', message })
  expect(await state(engine, 'm')).toMatchObject({
    state: 'READY',
    reason: '',
    problem: 'Invalid argument: no weights',
  })
  await ask(engine)
  expect(lines).toContain("error failed to load 'm' version 1: Invalid argument: no weights")
  expect(lines).toContain("info failed to load 'm'")
  backend.onLoad = () => undefined
  await engine.load('m')
  expect(backend.calls.filter((call) => call === 'load m:1')).toHaveLength(3)
  expect((await state(engine, 'm'))?.problem).toBeUndefined()
})

it('takes back everything when one version of several fails', async () => {
  const config = fakeConfig('version_policy { all { } }')
  const { engine, backend } = await setUp({ 'm/config.pbtxt': config, 'm/1/a': '', 'm/3/a': '' })
  await engine.start()
  backend.onLoad = (_config, { version }) => {
    if (version === '3') throw new ConchError('INTERNAL', 'broken')
  }
  const message = "load failed for model 'm': version 3 is at UNAVAILABLE state: Internal: broken;\n"
  await expect(engine.load('m')).rejects.toMatchObject({ message })
  expect(await engine.index(false)).toEqual([
    { name: 'm', version: '1', state: 'UNAVAILABLE', reason: 'unloaded' },
    { name: 'm', version: '3', state: 'UNAVAILABLE', reason: 'Internal: broken' },
  ])
  expect(backend.calls).toContain('unload m:1')
  expect(await engine.ready()).toBe(false)
  await engine.unload('m', false)
  expect(await engine.ready()).toBe(true)
})

it('adds a version without a gap and retires the one that the policy drops', async () => {
  const config = fakeConfig('version_policy { latest { num_versions: 2 } }')
  const { engine, backend, repository } = await setUp({ 'm/config.pbtxt': config, 'm/9/a': '', 'm/10/a': '' })
  await engine.start()
  await engine.load('m')
  expect(engine.metadata('m', '').versions).toEqual(['9', '10'])
  await repository.put('m/11/a', '')
  await engine.load('m')
  expect(engine.metadata('m', '').versions).toEqual(['10', '11'])
  expect((await ask(engine)).version).toBe('11')
  expect((await ask(engine, '10')).version).toBe('10')
  await unloaded(engine, 'm', '9')
  // 10 was neither touched nor reloaded.
  expect(backend.calls.filter((call) => call.startsWith('load'))).toEqual(['load m:9', 'load m:10', 'load m:11'])
  await expect(ask(engine, '9')).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: "Request for unknown model: 'm' version 9 is not at ready state",
  })
  await expect(ask(engine, '7')).rejects.toMatchObject({
    code: 'NOT_FOUND',
    message: "Request for unknown model: 'm' version 7 is not found",
  })
})

it('waits for running requests when it unloads, while new ones are refused and a new load starts at once', async () => {
  const { engine, backend } = await setUp({ 'm/config.pbtxt': fakeConfig(), 'm/1/a': '' })
  await engine.start()
  await engine.load('m')
  const running = Promise.withResolvers<void>()
  const plain = backend.execute
  backend.execute = async (batch, config) => {
    await running.promise
    return plain(batch, config)
  }
  const first = ask(engine)
  await engine.unload('m', false)
  expect(await state(engine, 'm')).toMatchObject({ state: 'UNLOADING' })
  expect(await engine.ready()).toBe(false)
  await expect(ask(engine)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  backend.execute = plain
  await engine.load('m')
  expect(await state(engine, 'm')).toMatchObject({ state: 'READY' })
  running.resolve()
  await first
  await vi.waitFor(() => expect(backend.calls).toContain('unload m:1'))
  expect(await state(engine, 'm')).toMatchObject({ state: 'READY' })
})

it('retries a failed load as often as it is told', async () => {
  const { engine, backend } = await setUp({ 'm/config.pbtxt': fakeConfig(), 'm/1/a': '' }, { loadRetries: 2 })
  let failures = 2
  backend.onLoad = () => {
    if (failures-- > 0) throw new Error('not yet')
  }
  await engine.start()
  await engine.load('m')
  expect(backend.calls.filter((call) => call === 'load m:1')).toHaveLength(3)
})

it('answers operations of many at once and ends in a clean state', async () => {
  const files = Object.fromEntries(
    ['a', 'b', 'c'].flatMap((m) => [
      [`${m}/config.pbtxt`, fakeConfig()],
      [`${m}/1/x`, ''],
    ]),
  )
  const { engine, backend } = await setUp(files)
  await engine.start()
  await Promise.all(['a', 'b', 'c', 'a', 'b', 'c'].map((model) => engine.load(model)))
  expect(backend.calls.filter((call) => call.startsWith('load'))).toHaveLength(3)
  await Promise.all(['a', 'b', 'c', 'a', 'b', 'c'].map((model) => engine.unload(model, false)))
  for (const model of ['a', 'b', 'c']) await unloaded(engine, model)
  expect(backend.calls.filter((call) => call.startsWith('unload'))).toHaveLength(3)
})

it('says why a model cannot be read, in the answer, the log and the index', async () => {
  const { engine, lines } = await setUp({
    'broken/config.pbtxt': 'backend: "fake"\nmax_batch_size: ${MBS}\n',
    'broken/1/a': '',
    'other/config.pbtxt': `name: "elsewhere"\n${fakeConfig()}`,
    'other/1/a': '',
    'empty/config.pbtxt': fakeConfig(),
  })
  await engine.start()
  const broken = await engine.load('broken').catch((error: unknown) => error)
  expect(broken).toMatchObject({ code: 'INTERNAL' })
  const { message } = broken as ConchError
  expect(message).toMatch(
    /^failed to load 'broken', failed to poll from model repository: failed to read text proto from broken\/config\.pbtxt: /,
  )
  expect(message).toContain('2:17')
  expect(message).toContain('max_batch_size')
  expect(message).toContain('MBS')
  expect(
    lines.some((line) => line.startsWith("error Poll failed for model directory 'broken': failed to read text proto")),
  ).toBe(true)
  expect(await state(engine, 'broken')).toMatchObject({ version: undefined, state: 'UNAVAILABLE' })
  expect(() => engine.metadata('broken', '')).toThrow("Request for unknown model: 'broken' is not found")
  await expect(engine.load('other')).rejects.toThrow(
    "unexpected directory name 'other' for model 'elsewhere', directory name must equal model name",
  )
  await expect(engine.load('empty')).rejects.toMatchObject({
    code: 'INVALID_ARG',
    message:
      "load failed for model 'empty': at least one version must be available under the version policy of model 'empty'\n",
  })
  await expect(engine.load('nope')).rejects.toThrow("failed to load 'nope', failed to poll from model repository")
  expect(lines).toContain("error failed to poll model 'nope': model not found in any model repository.")
  expect(await engine.ready()).toBe(true)
})

it('refuses names that are paths', async () => {
  const { engine } = await setUp({ 'm/config.pbtxt': fakeConfig(), 'm/1/a': '' })
  await engine.start()
  for (const name of ['..', '../models', 'a/b', '/etc', 'a\\b', 'a\0b']) {
    await expect(engine.load(name)).rejects.toMatchObject({ code: 'INVALID_ARG' })
  }
  await expect(engine.load(' ')).rejects.toThrow('Model name cannot be empty. Please enter a valid name to deploy.')
})

it('refuses files that lead out of the repository by links or by names in the config', async () => {
  const outside = await makeDirectory({ secret: 'x' })
  cleanups.push(outside.remove)
  const labels = (file: string) => fakeConfig().replace('name: "OUT"', `name: "OUT" label_filename: "${file}"`)
  const { engine, repository } = await setUp({
    'link/config.pbtxt': fakeConfig(),
    'link/1/': '',
    'names/config.pbtxt': fakeConfig('default_model_filename: "../../names/config.pbtxt"'),
    'names/1/a': '',
    'labels/config.pbtxt': labels('../../secret'),
    'labels/1/a': '',
    'lost/config.pbtxt': labels('nolabels.txt'),
    'lost/1/a': '',
    'inside/config.pbtxt': fakeConfig(),
    'inside/data/a': '',
  })
  await symlink(join(outside.directory, 'secret'), join(repository.directory, 'link/1/model.bin'))
  await symlink(outside.directory, join(repository.directory, 'whole'))
  await symlink('data', join(repository.directory, 'inside/1'))
  await engine.start()
  await expect(engine.load('link')).rejects.toThrow("'1/model.bin' is a symbolic link that leaves the model repository")
  await expect(engine.load('whole')).rejects.toThrow("'whole' is a symbolic link that leaves the model repository")
  await expect(engine.load('names')).rejects.toThrow('default_model_filename')
  await expect(engine.load('labels')).rejects.toThrow('outside model directory')
  await expect(engine.load('lost')).rejects.toThrow(
    'failed to open text file for read lost/nolabels.txt: No such file or directory',
  )
  await engine.load('inside')
  for (const entry of await engine.index(false)) expect(entry.reason).not.toContain(outside.directory)
})

it('keeps a config override until the model is unloaded', async () => {
  const { engine } = await setUp({ 'm/config.pbtxt': fakeConfig(), 'm/1/a': '' })
  await engine.start()
  await engine.load('m')
  const tensor = (name: string) => ({ name, data_type: 'TYPE_FP32', dims: [4] })
  const config = JSON.stringify({ backend: 'fake', max_batch_size: 3, input: [tensor('IN')], output: [tensor('OUT')] })
  await engine.load('m', { config })
  expect(engine.config('m', '').max_batch_size).toBe(3)
  expect(engine.describeConfig('m', '').find(({ path }) => path === 'max_batch_size')).toEqual({
    path: 'max_batch_size',
    value: 3,
    origin: 'override',
  })
  await engine.load('m')
  expect(engine.config('m', '').max_batch_size).toBe(3)
  for (const bad of ['{nope', '{"backend":"fake","zzz":1}', '{"name":"other"}']) {
    await expect(engine.load('m', { config: bad })).rejects.toMatchObject({ code: 'INTERNAL' })
    expect(engine.config('m', '').max_batch_size).toBe(3)
  }
  await expect(engine.load('m', { config: '{"backend":"fake","zzz":1}' })).rejects.toThrow('zzz')
  await expect(engine.load('m', { config: '{"backend":"no_such_backend"}' })).rejects.toThrow('no_such_backend')
  await ask(engine)
  await engine.unload('m', false)
  await unloaded(engine, 'm')
  await engine.load('m')
  expect(engine.config('m', '').max_batch_size).toBe(8)
})

it('serves a model that came with the call, from a private directory that goes with it', async () => {
  const { engine, backend } = await setUp({})
  await engine.start()
  const tensor = (name: string) => ({ name, data_type: 'TYPE_FP32', dims: [4] })
  const config = JSON.stringify({ backend: 'fake', max_batch_size: 4, input: [tensor('IN')], output: [tensor('OUT')] })
  let place = ''
  backend.onLoad = (_config, context) => void (place = context.modelDirectory)
  await engine.load('m', { config, files: new Map([['1/model.bin', new Uint8Array([1, 2])]]) })
  await ask(engine)
  expect(await engine.index(false)).toEqual([])
  await engine.unload('m', false)
  await vi.waitFor(async () =>
    expect(await rm(place).catch((error: NodeJS.ErrnoException) => error.code)).toBe('ENOENT'),
  )
  await expect(engine.load('m')).rejects.toThrow('model not found in any model repository')
  const send = (path: string, text?: string) =>
    engine.load('m', { config: text, files: new Map([[path, new Uint8Array(1)]]) })
  await expect(send('1/model.bin')).rejects.toThrow("Load parameter 'config' must be specified for model file override")
  for (const [path, normalized] of [
    ['../../x', '/x'],
    ['/tmp/x', '/tmp/x'],
    ['1/../../x', '/x'],
  ]) {
    await expect(send(path as string, config)).rejects.toThrow(
      `Invalid file parameter 'file:${path}' with normalized path '${normalized}' must stay within model directory.`,
    )
  }
  const clash = new Map([
    ['1', new Uint8Array(1)],
    ['1/model.bin', new Uint8Array(1)],
  ])
  await expect(engine.load('m', { config, files: clash })).rejects.toThrow('directory has been created as a file')
})

it('refuses load and unload outside of explicit mode', async () => {
  const { engine } = await setUp({ 'm/config.pbtxt': fakeConfig(), 'm/1/a': '' }, { controlMode: 'none' })
  expect(await engine.start()).toBe(true)
  const text = 'explicit model load / unload is not allowed if polling is enabled'
  await expect(engine.load('m')).rejects.toMatchObject({ code: 'UNAVAILABLE', message: text })
  await expect(engine.unload('m', false)).rejects.toMatchObject({ code: 'UNAVAILABLE', message: text })
  expect(await state(engine, 'm')).toMatchObject({ state: 'READY' })
})

it('starts with the named models, or all of them', async () => {
  const files = Object.fromEntries(
    ['a', 'b'].flatMap((m) => [
      [`${m}/config.pbtxt`, fakeConfig()],
      [`${m}/1/x`, ''],
    ]),
  )
  const named = await setUp(files, { startupModels: ['a'] })
  expect(await named.engine.start()).toBe(true)
  expect((await named.engine.index(false)).map(({ state: one }) => one)).toEqual(['READY', undefined])
  const missing = await setUp(files, { startupModels: ['a', 'zzz'] })
  expect(await missing.engine.start()).toBe(false)
  const all = await setUp(files, { startupModels: ['*'] })
  expect(await all.engine.start()).toBe(true)
  expect(await all.engine.index(true)).toHaveLength(2)
  expect(all.lines.some((line) => /\| a +\| 1 +\| READY +\|/.test(line))).toBe(true)
  const both = await setUp(files, { startupModels: ['*', 'a'] })
  await expect(both.engine.start()).rejects.toThrow("Wildcard model name '*' must be the ONLY startup model")
})

it('does not serve a name that is in two repositories', async () => {
  const second = await makeDirectory({
    'm/config.pbtxt': fakeConfig(),
    'm/1/a': '',
    'n/config.pbtxt': fakeConfig(),
    'n/1/a': '',
  })
  cleanups.push(second.remove)
  const first = await makeDirectory({ 'm/config.pbtxt': fakeConfig(), 'm/1/a': '' })
  cleanups.push(first.remove)
  const backend = new FakeBackend()
  for (const namespacing of [false, true]) {
    const options = testOptions([first.directory, second.directory], { controlMode: 'none', namespacing })
    const engine = createEngine(options, { findBackend: onlyBackends(backend) })
    cleanups.push(() => engine.stop(1))
    expect(await engine.start()).toBe(namespacing)
    expect(await engine.modelReady('n', '')).toBe(true)
    expect(await engine.modelReady('m', '')).toBe(false)
    const entries = (await engine.index(false)).filter(({ name }) => name === 'm')
    const expected = namespacing ? ['READY', 'READY'] : ['UNAVAILABLE']
    expect(entries.map((entry) => entry.state)).toEqual(expected)
    await expect(ask(engine)).rejects.toMatchObject({ code: namespacing ? 'INVALID_ARG' : 'NOT_FOUND' })
    const shown = namespacing ? `${second.directory}::n` : 'n'
    expect(engine.statistics('', '').map(({ name }) => name)).toContain(shown)
    expect((await engine.metricsText()).includes(`model="n",namespace=`)).toBe(namespacing)
  }
})

it('polls: adds, reloads, keeps what breaks, removes', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  cleanups.push(() => Promise.resolve(void vi.useRealTimers()))
  const { engine, repository, lines } = await setUp(
    { 'm/config.pbtxt': fakeConfig(), 'm/1/a': '' },
    { controlMode: 'poll', pollSeconds: 1 },
  )
  expect(await engine.start()).toBe(true)
  const config = join(repository.directory, 'm/config.pbtxt')
  const poll = async (check: () => unknown) => {
    // Files are read at their own pace, however often it polls meanwhile.
    const end = performance.now() + 10_000
    for (;;) {
      await vi.advanceTimersByTimeAsync(1_000)
      await new Promise((resolve) => setImmediate(resolve))
      try {
        await check()
        return
      } catch (error) {
        if (performance.now() > end) throw error
      }
    }
  }
  await repository.put('n/config.pbtxt', fakeConfig())
  await repository.put('n/1/a', '')
  await poll(async () => expect(await engine.modelReady('n', '')).toBe(true))
  await repository.put('m/config.pbtxt', fakeConfig('', '4', 5))
  await touch(config)
  await poll(() => expect(engine.config('m', '').max_batch_size).toBe(5))
  await repository.put('m/config.pbtxt', 'this is no config {')
  await touch(config)
  await poll(() => expect(lines.filter((line) => line.includes("Poll failed for model directory 'm'"))).toHaveLength(1))
  await ask(engine)
  await repository.put('m/config.pbtxt', fakeConfig())
  await touch(config)
  await poll(() => expect(engine.config('m', '').max_batch_size).toBe(8))
  await rm(join(repository.directory, 'n'), { recursive: true })
  await poll(async () => {
    expect(await engine.modelReady('n', '')).toBe(false)
    expect(await state(engine, 'n')).toBeUndefined()
  })
  // Said once, not with every poll.
  expect(lines.filter((line) => line.includes("Poll failed for model directory 'm'"))).toHaveLength(1)
})

it('stops: refuses, waits, unloads, says so', async () => {
  const { engine, backend, lines } = await setUp(
    { 'm/config.pbtxt': fakeConfig(), 'm/1/a': '' },
    { startupModels: ['m'] },
  )
  await engine.start()
  const running = Promise.withResolvers<void>()
  const plain = backend.execute
  backend.execute = async (batch, config) => {
    await running.promise
    return plain(batch, config)
  }
  const first = ask(engine)
  const stopping = engine.stop()
  expect(engine.phase).toBe('exiting')
  await expect(ask(engine)).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message:
      '[request id: <id_unknown>] Server is stopping, scheduler for model has stopped accepting new inference requests',
  })
  running.resolve()
  await first
  expect(await stopping).toBe(true)
  expect(backend.calls).toContain('unload m:1')
  expect(lines).toEqual(
    expect.arrayContaining([
      'info Waiting for in-flight requests to complete.',
      'info Timeout 30: Found 1 model versions that have in-flight inferences',
      "info Model 'm' (version 1) has 1 in-flight inferences",
      'info All models are stopped, unloading models',
      'info Timeout 30: Found 0 live models and 0 in-flight non-inference requests',
    ]),
  )
})

it('gives up when the time to stop is over', async () => {
  const { engine, backend, lines } = await setUp(
    { 'm/config.pbtxt': fakeConfig(), 'm/1/a': '' },
    { startupModels: ['m'] },
  )
  await engine.start()
  const never = Promise.withResolvers<never>()
  backend.execute = () => never.promise
  void ask(engine).catch(() => undefined)
  expect(await engine.stop(0)).toBe(false)
  expect(lines).toContain('error Exit timeout expired. Exiting immediately.')
  never.reject(new Error('over'))
})

it('never shows a path of the server', async () => {
  const { engine, backend, repository } = await setUp({ 'm/config.pbtxt': fakeConfig(), 'm/1/a': '' })
  await engine.start()
  backend.onLoad = (_config, { versionDirectory }) => {
    throw new Error(`cannot open ${versionDirectory}/model.bin`)
  }
  await expect(engine.load('m')).rejects.toThrow('Internal: cannot open m/1/model.bin;')
  expect((await state(engine, 'm'))?.reason).toBe('Internal: cannot open m/1/model.bin')
  expect(JSON.stringify(await engine.index(false))).not.toContain(repository.directory)
})

it('does not finish a load when it is stopped meanwhile', async () => {
  const { engine, backend } = await setUp({ 'm/config.pbtxt': fakeConfig(), 'm/1/a': '' })
  await engine.start()
  const slow = Promise.withResolvers<void>()
  backend.onLoad = () => slow.promise
  const loading = engine.load('m')
  await vi.waitFor(() => expect(backend.calls).toContain('load m:1'))
  expect(await state(engine, 'm')).toMatchObject({ state: 'LOADING' })
  const stopping = engine.stop(5)
  slow.resolve()
  await expect(loading).rejects.toThrow('Newer operation has been applied to the model lifecycle')
  expect(await stopping).toBe(true)
  expect(backend.calls).toContain('unload m:1')
})

it('serves the files of the newest load call, also when its config is the same', async () => {
  const { engine, backend } = await setUp({})
  const config = JSON.stringify({ backend: 'fake', max_batch_size: 0 })
  const load = (text: string) => engine.load('m', { config, files: new Map([['1/model.bin', Buffer.from(text)]]) })
  const seen: string[] = []
  backend.onLoad = async (_, { versionDirectory }) => {
    seen.push(await readFile(join(versionDirectory, 'model.bin'), 'utf8'))
  }
  for (const text of ['first', 'second', 'third']) await load(text)
  expect(seen).toEqual(['first', 'second', 'third'])
})

it('takes the folder in which the console builds for no model', async () => {
  const { engine } = await setUp({ '.conch/1/model.bin': '' })
  expect(await engine.index(false)).toEqual([])
  await expect(engine.load('.conch')).rejects.toThrow('model not found in any model repository')
})

it('says that there is no place for the files of a load call, not where it looked', async () => {
  const { engine } = await setUp({})
  vi.stubEnv('TMPDIR', '/nowhere/at/all')
  const files = new Map([['1/model.bin', new Uint8Array(1)]])
  const failure = await engine.load('m', { config: '{"backend":"fake"}', files }).catch(String)
  vi.unstubAllEnvs()
  expect(failure).toContain('cannot be stored: no directory can be made for them (ENOENT), see TMPDIR')
  expect(failure).not.toContain('/nowhere')
})

it('lists the files of a model, inside the repository only', async () => {
  const { engine, repository } = await setUp({ 'm/config.pbtxt': fakeConfig(), 'm/1/model.bin': 'abc' })
  await mkdir(join(repository.directory, 'm/warmup'))
  await engine.start()
  const listed = await engine.directory('m')
  expect(listed?.files.map(({ path, size }) => [path, size])).toEqual([
    ['1/model.bin', 3],
    ['config.pbtxt', fakeConfig().length],
  ])
  expect(await engine.configText('m')).toBe(fakeConfig())
  expect(await engine.directory('../m')).toBeUndefined()
})
