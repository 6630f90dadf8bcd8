import { createRequest } from '@conch/protocol'
import type { BatchAnswers } from './backend/contract.ts'
import { expect, it } from 'vitest'
import { createEngine } from './engine.ts'
import { newTimings } from './request.ts'
import { FakeBackend, fakeConfig, floats, makeDirectory, onlyBackends, testOptions, testRequest } from './testing.ts'

async function serve(config: string, more: Readonly<Record<string, Uint8Array>> = {}) {
  const backend = new FakeBackend()
  const files = await makeDirectory({ 'm/config.pbtxt': config, 'm/1/': '', ...more })
  const engine = createEngine(testOptions([files.directory], { startupModels: ['m'] }), {
    findBackend: onlyBackends(backend),
  })
  await engine.start()
  return {
    engine,
    backend,
    close: async () => {
      await engine.stop()
      await files.remove()
    },
  }
}

it('stamps the queue only on a request that was taken: faces tell refusals and failures apart by it', async () => {
  const policy = 'dynamic_batching { default_queue_policy { max_queue_size: 1 default_timeout_microseconds: 20000 } }'
  const { engine, backend, close } = await serve(fakeConfig(policy, '4', 1))
  let release: (answers: BatchAnswers) => void = () => undefined
  backend.execute = () => new Promise((resolve) => (release = resolve))
  const ask = async () => {
    const timings = newTimings()
    const error = await engine.infer(testRequest('m', [floats('IN', [1, 4])]), { timings }).then(
      () => '',
      (cause: unknown) => (cause as Error).message,
    )
    return { error, taken: timings.queued > 0 }
  }
  const running = ask()
  const [waited, refused] = await Promise.all([ask(), ask()])
  expect(waited).toEqual({ error: 'Request timeout expired', taken: true })
  expect(refused).toEqual({ error: '[request id: <id_unknown>] Exceeds maximum queue size', taken: false })
  release([{ outputs: [] }])
  expect(await running).toEqual({ error: '', taken: true })
  await close()
})

const STRINGS = `backend: "fake"
  input { name: "IN" data_type: TYPE_STRING dims: [ 1 ] }
  output { name: "OUT" data_type: TYPE_STRING dims: [ 1 ] }`
const BROKEN = Uint8Array.of(9, 0, 0, 0, 97, 98)
const OVERRUN =
  "incomplete string data for inference input 'IN', expecting string of length 9 but only 2 bytes available"

it('counts a string that is longer than its body as a failure of the backend, which never sees it', async () => {
  const { engine, backend, close } = await serve(STRINGS)
  const input = { name: 'IN', datatype: 'BYTES', shape: [1], data: BROKEN } as const
  const timings = newTimings()
  const request = { ...createRequest({ model: 'm', version: '' }), inputs: [input] }
  await expect(engine.infer(request, { timings })).rejects.toThrow(OVERRUN)
  expect(timings.queued).toBeGreaterThan(0)
  expect(engine.statistics('m', '')[0]?.inference_stats.fail.count).toBe(1)
  expect(backend.calls.filter((call) => call.startsWith('execute'))).toEqual([])
  await close()
})

it('does not warm a model up with such a string', async () => {
  const sample = 'inputs { key: "IN" value: { data_type: TYPE_STRING dims: [ 1 ] input_data_file: "in" } }'
  const { engine, backend, close } = await serve(`${STRINGS} model_warmup { name: "s" batch_size: 1 ${sample} }`, {
    'm/warmup/in': BROKEN,
  })
  expect((await engine.index(false)).map(({ reason }) => reason)).toEqual([expect.stringContaining(OVERRUN)])
  expect(backend.calls.filter((call) => call.startsWith('execute'))).toEqual([])
  await close()
})
