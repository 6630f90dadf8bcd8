import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConchError, toConfigDatatype } from '@conch/protocol'
import type { InferResponse, Tensor } from '@conch/protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { floats, makeDirectory, testRequest } from '../../testing.ts'
import {
  activeRequest,
  batchOf,
  closeInstances,
  configOf,
  contextOf,
  describeBackend,
  execute,
  openInstance,
  outputsOf,
} from '../contract.suite.ts'
import type { Backend, BackendInstance, EngineCalls } from '../contract.ts'
import { createBackendRegistry } from '../registry.ts'
import { openModule } from './open.ts'

const EXAMPLES = join(import.meta.dirname, '../../../../../examples/backends')
const MODES = ['shared', 'own'] as const
type Mode = (typeof MODES)[number]
const removals: (() => Promise<void>)[] = []

afterEach(async () => {
  await closeInstances()
  for (const remove of removals.splice(0)) await remove()
})

/** The example, as it is or in a process of its own. */
async function openExample(mode: Mode): Promise<Backend> {
  const { directory } = await makeDirectory({})
  await cp(join(EXAMPLES, 'scale'), join(directory, 'scale'), { recursive: true })
  await writeFile(join(directory, 'scale/backend.json'), JSON.stringify({ process: mode }))
  return (await openModule(directory, 'scale')) as Backend
}
const examples: Record<Mode, Backend> = { shared: await openExample('shared'), own: await openExample('own') }

for (const mode of MODES) {
  describeBackend({
    name: `custom (${mode} process)`,
    create: () => examples[mode],
    echo: async (datatype) => {
      const type = toConfigDatatype(datatype)
      const config = await configOf(
        'identity',
        `backend: "scale" max_batch_size: 8
         input { name: "IN" data_type: ${type} dims: [ -1 ] }
         output { name: "OUT" data_type: ${type} dims: [ -1 ] }`,
      )
      return { config, context: contextOf('identity'), input: 'IN', output: 'OUT' }
    },
  })
}

const CONFIG = `backend: "mine" max_batch_size: 8
  input { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] }
  output { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] }`

/** A backend from text, in the given mode. */
async function open(mode: Mode, code: string, settings: object = {}): Promise<Backend> {
  const made = await makeDirectory({})
  removals.push(made.remove)
  await mkdir(join(made.directory, 'mine'))
  await writeFile(join(made.directory, 'mine/backend.ts'), code)
  await writeFile(join(made.directory, 'mine/backend.json'), JSON.stringify({ process: mode, ...settings }))
  return (await openModule(made.directory, 'mine')) as Backend
}

async function serve(mode: Mode, code: string, change: { settings?: object; engine?: Partial<EngineCalls> } = {}) {
  const backend = await open(mode, code, change.settings)
  const engine = (change.engine ?? {}) as EngineCalls
  const context = { ...contextOf('identity'), engine }
  const opened = await openInstance(backend, await configOf('identity', CONFIG), context)
  return { ...opened, lines: context.lines }
}
const ask = (instance: BackendInstance, inputs: readonly Tensor[] = [floats('IN', [1, 2], 1)], signal?: AbortSignal) =>
  execute(instance, batchOf([activeRequest(inputs, 1, signal)], ['OUT'], signal))

/** A module whose execute has the given body. */
const executing = (body: string, more = '') => `
export function createBackend() {
  return {
    load(config, context) {
      return { createInstance: () => ({
        execute(batch: { requests: any[] }) {
          ${body}
        },
        ${more}
      }) }
    },
  }
}`
const ANSWER = `return batch.requests.map(({ request }) => ({ outputs: [{ ...request.inputs[0], name: 'OUT' }] }))`

describe.each(MODES)('a module in a process of kind %s', (mode) => {
  it('scales as the example says', async () => {
    const config = await configOf('identity', `${CONFIG} parameters { key: "factor" value { string_value: "2.5" } }`)
    const context = contextOf('identity')
    const { instance } = await openInstance(examples[mode], config, context)
    const [answer] = await ask(instance, [floats('IN', [1, 3], 2)])
    expect(outputsOf(answer)[0]?.shape).toEqual([1, 3])
    expect([...new Float32Array(outputsOf(answer)[0]!.data.slice().buffer)]).toEqual([5, 5, 5])
    await vi.waitFor(() => expect(context.lines).toContain('info scaling by 2.5'))
    const bad = await configOf('identity', `${CONFIG} parameters { key: "factor" value { string_value: "x" } }`)
    await expect(openInstance(examples[mode], bad, contextOf('identity'))).rejects.toMatchObject({
      code: 'INVALID_ARG',
      message: 'parameter "factor" must be a number',
    })
  })

  it.each([
    [
      'throws when it is imported',
      `\nthrow new TypeError('early')\n`,
      "backend 'mine' failed to be imported: TypeError: early (mine/backend.ts:2)",
    ],
    ['does not parse', `export const x = 1\nexport function (\n`, "backend 'mine' failed to be imported: "],
    ['imports what there is not', `import './absent.ts'`, "backend 'mine' failed to be imported: "],
    [
      'exports something else',
      'export const backend = {}',
      "backend 'mine' must export a function createBackend that returns a backend; it exports backend",
    ],
    ['exports nothing', 'const x = 1', 'it exports nothing'],
    [
      'makes nothing',
      'export const createBackend = () => undefined',
      'createBackend must return an object, got undefined',
    ],
    [
      'makes no backend',
      'export const createBackend = () => ({})',
      'createBackend must return an object with a method load',
    ],
    [
      'fails to make one',
      `export const createBackend = () => {\n  throw new Error('no')\n}`,
      "backend 'mine' failed in createBackend: no (mine/backend.ts:2)",
    ],
    [
      'wants odd instances',
      `export const createBackend = () => ({ load() {}, preferredGroup: { kind: 'TPU', count: 1 } })`,
      'preferredGroup',
    ],
  ])('that %s is refused', async (_what, code, message) => {
    await expect(open(mode, code)).rejects.toThrow(message)
  })

  it.each([
    [
      'load',
      `load() {\n throw new RangeError('far') }`,
      "backend 'mine' failed in load: RangeError: far (mine/backend.ts:3)",
    ],
    [
      'load',
      `load() { return 7 }`,
      "backend 'mine': load must return an object with a method createInstance, got number",
    ],
    ['load', `load() { return {} }`, "backend 'mine': load returned an object without a method createInstance"],
    [
      'complete',
      `load() {}, complete() {\n throw new Error('c') }`,
      "backend 'mine' failed in complete: c (mine/backend.ts:3)",
    ],
    [
      'complete',
      `load() {}, complete() {}`,
      "backend 'mine': complete must return the model configuration, got undefined",
    ],
    [
      'createInstance',
      `load() { return { createInstance() {\n throw 'text' } } }`,
      `backend 'mine' failed in createInstance: it threw "text"`,
    ],
    [
      'createInstance',
      `load() { return { createInstance: () => ({}) } }`,
      'createInstance returned an object without a method execute',
    ],
  ])('whose %s fails is told with its place: %s', async (_what, methods, message) => {
    const code = `export function createBackend() {\n  return { ${methods} }\n}`
    await expect(serve(mode, code)).rejects.toThrow(message)
  })

  it.each([
    [`\n          throw new Error('boom')`, "backend 'mine' failed in execute: boom (mine/backend.ts:8)"],
    [`return Promise.reject(new Error('later'))`, "backend 'mine' failed in execute: later (mine/backend.ts:7)"],
    [`throw Object.assign(new Error('mine to say'), { code: 'UNAVAILABLE' })`, 'mine to say'],
    ['return 1', "execute must return a list of answers or 'responded', got 1"],
    ['return []', 'execute returned 0 answers for 1 requests'],
  ])('whose batch fails says why: %s', async (body, message) => {
    const { instance } = await serve(mode, executing(body))
    await expect((async () => ask(instance))()).rejects.toThrow(message)
  })

  it.each([
    [`[{ error: new Error('this one') }]`, "backend 'mine' failed to answer a request: this one"],
    ['[null]', 'an answer must be {outputs} or {error}, got null'],
    [`[{ outputs: [{ name: 'X' }] }]`, "output 'X' is none of the model's: OUT"],
    [
      `[{ outputs: [{ name: 'OUT', datatype: 'FP64', shape: [1], data: new Uint8Array(8) }] }]`,
      "output 'OUT' has datatype 'FP64', but the model configuration says FP32",
    ],
    [
      `[{ outputs: [{ name: 'OUT', datatype: 'FP32', shape: [-1], data: new Uint8Array(8) }] }]`,
      "output 'OUT' needs a datatype and a shape of whole numbers, got [-1]",
    ],
    [
      `[{ outputs: [{ name: 'OUT', datatype: 'FP32', shape: [3], data: new Uint8Array(8) }] }]`,
      "output 'OUT' of shape [3] needs 12 bytes, got 8",
    ],
    [
      `[{ outputs: [{ name: 'OUT', datatype: 'FP32', shape: [1], data: [1] }] }]`,
      "output 'OUT' needs its data as a Uint8Array, got [1]",
    ],
  ])('whose answer is wrong fails that request: %s', async (answer, message) => {
    const { instance } = await serve(mode, executing(`return ${answer}`))
    const [got] = await ask(instance)
    expect(() => outputsOf(got)).toThrow(message)
  })

  it('may answer by itself, now and later', async () => {
    const { instance, close } = await serve(
      mode,
      executing(`
        for (const one of batch.requests) {
          const response = (n: number) => ({ model: 'm', version: '1', id: String(n), parameters: {}, outputs: [] })
          one.respond(response(1), false)
          one.respondError(new Error('between'))
          setTimeout(() => { one.respond(response(2), false); one.respond(undefined, true) }, 20)
        }
        return 'responded'`),
    )
    const got: string[] = []
    const request = {
      ...activeRequest([floats('IN', [1, 2])]),
      respond: (response: InferResponse | undefined, final: boolean) => void got.push(`${response?.id ?? ''} ${final}`),
      respondError: (error: unknown) => void got.push(String(error)),
    }
    expect(await instance.execute(batchOf([request], ['OUT']))).toBe('responded')
    await vi.waitFor(() => expect(got).toHaveLength(4))
    expect([got[0], got[2], got[3]]).toEqual(['1 false', '2 false', ' true'])
    expect(got[1]).toContain('between')
    await close()
  })

  it('asks other models, on behalf of its request', async () => {
    const seen: unknown[] = []
    const infer: EngineCalls['infer'] = (request, { chain, onResponse, onError }) => {
      seen.push(request.model, chain)
      const response = { model: request.model, version: '1', id: 'x', parameters: {}, outputs: [] }
      onResponse?.({ ...response, id: '1' }, false)
      onError?.(new ConchError('INTERNAL', 'odd'))
      return Promise.resolve(onResponse === undefined ? response : undefined)
    }
    const { instance } = await serve(
      mode,
      executing(`
        const [one] = batch.requests
        return (async () => {
          const ask = { ...one.request, model: 'other' }
          const plain = await context.engine.infer(ask, { signal: undefined, chain: one.chain, onResponse: undefined })
          const ids: string[] = [plain.id]
          await context.engine.infer(ask, { signal: undefined, chain: one.chain,
            onResponse: (response) => void ids.push(response.id), onError: (error) => void ids.push(error.message) })
          const ready = await context.engine.isReady('other', '')
          return [{ error: Object.assign(new Error(ids.join() + ready), { code: 'UNSUPPORTED' }) }]
        })()`),
      { engine: { infer, isReady: () => Promise.resolve(true) } },
    )
    const request = activeRequest([floats('IN', [1, 2])])
    const [answer] = await execute(instance, batchOf([request], ['OUT']))
    expect(() => outputsOf(answer)).toThrow('x,1,oddtrue')
    expect(seen).toEqual(['other', ['m'], 'other', ['m']])
    expect(seen[1]).toBe(request.chain)
  })

  it('learns that a client has gone', async () => {
    const { instance } = await serve(
      mode,
      executing(`
        const { signal } = batch as unknown as { signal: AbortSignal }
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(Object.assign(new Error('stopped'), { code: 'CANCELLED' })))
        })`),
    )
    const client = new AbortController()
    const running = (async () => ask(instance, undefined, client.signal))()
    setTimeout(() => client.abort(), 50)
    await expect(running).rejects.toMatchObject({ code: 'CANCELLED', message: 'stopped' })
  })

  it('tells of a close that fails in the log only', async () => {
    const { close, lines } = await serve(mode, executing(ANSWER, `close() { throw new Error('stuck') },`))
    await close()
    await vi.waitFor(() =>
      expect(lines.join()).toContain("error backend 'mine' failed in close: stuck (mine/backend.ts:"),
    )
  })
})

describe('a process of its own', () => {
  const crash = (how: string) =>
    executing(`
      if (batch.requests[0].request.id === 'crash') { ${how} }
      ${ANSWER}`)
  const send = (instance: BackendInstance, id: string) => {
    const request = {
      ...activeRequest([floats('IN', [1, 2], 3)]),
      request: testRequest('m', [floats('IN', [1, 2], 3)], { id }),
    }
    return (async () => execute(instance, batchOf([request], ['OUT'])))()
  }

  it.each([
    ['process.exit(3)', 'the process ended with exit code 3'],
    ['process.abort()', 'the process was ended by signal SIGABRT'],
    [`process.kill(process.pid, 'SIGSEGV'); for (;;);`, 'the process was ended by signal SIGSEGV'],
    [
      `setTimeout(() => { throw new RangeError('out of nowhere') }); return new Promise(() => undefined)`,
      'exit code 1; it said: RangeError: out of nowhere',
    ],
  ])('may end: %s', async (how, reason) => {
    const { instance, lines } = await serve('own', crash(how))
    const health: boolean[] = []
    instance.onHealth = (healthy) => void health.push(healthy)
    expect(outputsOf((await send(instance, 'a'))[0])).toHaveLength(1)
    await expect(send(instance, 'crash')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining(`the process of backend 'mine' is gone: `) as string,
    })
    await vi.waitFor(() => expect(health).toEqual([false, true]), { timeout: 15_000 })
    expect(lines.join('\n')).toContain(reason)
    expect(outputsOf((await send(instance, 'b'))[0])).toHaveLength(1)
    expect(instance.process).toMatchObject({ restarts: 1 })
    expect(instance.process?.lastExit).toContain(reason)
  })

  it('is ended when a batch takes too long, or goes on for nobody', async () => {
    const slow = await serve('own', crash('for (;;);'), { settings: { execution_timeout_ms: 200 } })
    await expect(send(slow.instance, 'crash')).rejects.toThrow('execution_timeout_ms, 200 ms')
    await vi.waitFor(() => expect(slow.instance.healthy).toBe(true), { timeout: 15_000 })
    expect(outputsOf((await send(slow.instance, 'b'))[0])).toHaveLength(1)
  })

  it('fails the requests that were to be answered later', async () => {
    const { instance } = await serve('own', executing(`setTimeout(() => process.exit(1), 30); return 'responded'`))
    const failed = vi.fn<(error: unknown, outcome: string) => void>()
    const request = { ...activeRequest([floats('IN', [1, 2])]), fail: failed }
    expect(await instance.execute(batchOf([request], ['OUT']))).toBe('responded')
    await vi.waitFor(() => expect(failed).toHaveBeenCalledOnce(), { timeout: 5_000 })
    expect(failed.mock.calls[0]).toMatchObject([{ code: 'UNAVAILABLE' }, 'backend'])
  })

  it('brings what it prints into the log', async () => {
    const { lines } = await serve('own', `console.log('hello')\nconsole.error('careful')\n${executing(ANSWER)}`)
    await vi.waitFor(() => {
      expect(lines).toContain('info mine: hello')
      expect(lines).toContain('warning mine: careful')
    })
  })

  it('refuses what cannot cross, and goes on', async () => {
    const { instance } = await serve('own', executing(`return [{ outputs: [], extra: () => 1 }]`))
    await expect(send(instance, 'a')).rejects.toThrow('could not be cloned')
    await expect(send(instance, 'b')).rejects.toThrow('could not be cloned')
  })

  it('leaves no process behind', async () => {
    const { instance, close } = await serve('own', executing(ANSWER))
    const pid = instance.process?.pid ?? 0
    expect(() => process.kill(pid, 0)).not.toThrow()
    await close()
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })
})

it.each([
  ['{', 'mine/backend.json is no JSON'],
  ['[]', 'mine/backend.json must hold an object'],
  ['{"process": "other"}', 'mine/backend.json: process must be "own" or "shared", got "other"'],
  ['{"proces": "own"}', "mine/backend.json: unknown setting 'proces'; there are process and execution_timeout_ms"],
  ['{"execution_timeout_ms": 5}', 'execution_timeout_ms needs "process": "own"'],
  ['{"process": "own", "execution_timeout_ms": -1}', 'execution_timeout_ms must be a whole number'],
])('settings %s are refused', async (text, message) => {
  const { directory, remove } = await makeDirectory({ 'mine/backend.js': '', 'mine/backend.json': text })
  removals.push(remove)
  await expect(openModule(directory, 'mine')).rejects.toThrow(message)
})

it('is found by its name and by nothing else', async () => {
  const { directory, remove } = await makeDirectory({
    'a/backend.js': 'export const createBackend = () => ({ load() {} })',
    'b/backend.mjs': 'export const createBackend = () => ({ load() {} })',
    'c/other.ts': '',
    'identity/backend.ts': 'throw new Error("never imported")',
  })
  removals.push(remove)
  const find = createBackendRegistry(directory)
  expect((await find('a')).name).toBe('a')
  expect((await find('b')).preferredGroup).toEqual({ kind: 'KIND_CPU', count: 1 })
  expect((await find('identity')).name).toBe('identity')
  for (const name of ['c', 'd', '../a', 'a/../b', '.', '..', '', 'a\0'])
    await expect(find(name)).rejects.toThrow(`unable to find backend library for backend '${name}'`)
  await expect(createBackendRegistry()('a')).rejects.toThrow('unable to find')
})
