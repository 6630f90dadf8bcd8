import { toConfigDatatype } from '@conch/protocol'
import { afterEach, expect, it } from 'vitest'
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
import { NO_ENGINE } from '../../testing.ts'
import type { EngineCalls } from '../contract.ts'
import { createIdentityBackend } from './backend.ts'

afterEach(closeInstances)

const io = (input: string, output: string, more = '') => `backend: "identity"
  input { name: "${input}" data_type: ${toConfigDatatype('FP32')} dims: [ 4 ] }
  output { name: "${output}" data_type: TYPE_FP32 dims: [ 4 ] }
  ${more}`
const parameter = (key: string, value: string) => `parameters { key: "${key}" value { string_value: "${value}" } }`

async function open(text: string) {
  return openInstance(createIdentityBackend(), await configOf('identity', text), contextOf('identity'))
}

it.each([
  [io('IN', 'OUTPUT0'), "expected input name to follow INPUT<index> pattern, got 'IN'"],
  [io('INPUT0', 'X'), "expected output name to follow OUTPUT<index> pattern, got 'X'"],
  [io('INPUT0', 'OUTPUT1'), 'expected input and output indices to match'],
  [
    io('INPUT0', 'OUTPUT0', 'input { name: "INPUT1" data_type: TYPE_FP32 dims: [ 4 ] }'),
    'model configuration must have equal input/output pairs',
  ],
  [
    io('INPUT0', 'OUTPUT0').replace('TYPE_FP32', 'TYPE_INT32'),
    'expected input and output datatype to match, got TYPE_INT32 and TYPE_FP32',
  ],
  [io('INPUT0', 'OUTPUT0').replace('[ 4 ]', '[ 5 ]'), 'expected input and output shape to match, got [5] and [4]'],
  [io('INPUT0', 'OUTPUT0', parameter('execute_delay_ms', 'x')), "failed to convert 'x' to integral number"],
])('%s is refused with %s', async (text, message) => {
  await expect(open(text)).rejects.toThrow(message)
})

it('serves on CPUs only', async () => {
  const config = await configOf('identity', io('INPUT0', 'OUTPUT0'))
  const model = await createIdentityBackend().load(config, contextOf('identity'))
  await expect(model.createInstance({ ...CPU, kind: 'KIND_GPU' })).rejects.toThrow(
    "'identity' backend only supports CPU instances",
  )
})

it('hands out the bytes it was given, and the parameters of the original', async () => {
  const { instance } = await open(io('INPUT0', 'OUTPUT0'))
  const sent = tensor('INPUT0', 'FP32', [4])
  const [answer] = await execute(instance, batchOf([activeRequest([sent])], ['OUTPUT0']))
  expect(outputsOf(answer)[0]?.data).toBe(sent.data)
  expect(answer).toMatchObject({
    parameters: { param0: 'an example string parameter', param1: 42n, param2: false, param3: 123.123 },
  })
})

it('waits without holding anybody up, and not for a client that has gone', async () => {
  const { instance } = await open(io('INPUT0', 'OUTPUT0', parameter('execute_delay_ms', '60000')))
  const controller = new AbortController()
  const running = execute(
    instance,
    batchOf([activeRequest([tensor('INPUT0', 'FP32', [4])])], ['OUTPUT0'], controller.signal),
  )
  controller.abort()
  await expect(running).rejects.toMatchObject({ code: 'CANCELLED' })
})

it('counts the bytes it is given, by model and version, until it is unloaded', async () => {
  const values = new Map<string, number>()
  const engine: EngineCalls = {
    ...NO_ENGINE,
    createFamily: (kind, name) => ({
      createSeries: (labels) => {
        const key = `${kind} ${name} ${JSON.stringify(labels)}`
        values.set(key, 0)
        const series = { set: () => undefined, observe: () => undefined, value: () => values.get(key) ?? 0 }
        const increment = (by: number) => void values.set(key, (values.get(key) ?? 0) + by)
        return { ...series, increment, close: () => void values.delete(key) }
      },
      close: () => undefined,
    }),
  }
  const config = await configOf('identity', io('INPUT0', 'OUTPUT0'))
  const model = await createIdentityBackend().load(config, contextOf('identity', { engine }))
  const instance = await model.createInstance(CPU)
  const request = () => activeRequest([tensor('INPUT0', 'FP32', [4])])
  await execute(instance, batchOf([request()], ['OUTPUT0']))
  await execute(instance, batchOf([request(), request()], ['OUTPUT0']))
  expect([...values]).toEqual([['counter input_byte_size_counter {"model":"identity","version":"1"}', 48]])
  await model.close()
  expect(values.size).toBe(0)
})
