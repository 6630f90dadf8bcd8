import { ConchError } from '@conch/protocol'
import type { InferRequest } from '@conch/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { floats, NO_ENGINE } from '../../testing.ts'
import type { CustomSeries, EngineCalls, NestedCall } from '../contract.ts'
import {
  closePythonModels,
  ints,
  NO_PYTHON,
  openPythonModel,
  outputsOf,
  PYTHON,
  RecordedRequest,
  until,
} from './models.suite.ts'

const TIMEOUT = 60_000
afterEach(closePythonModels, TIMEOUT)

/** Asks another model for what it is asked itself; the code is the call. */
const calling = (code: string) => `
def answer(*values):
    return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array([values], np.int32))])]

def request(r, **more):
    return pb_utils.InferenceRequest(model_name="other", requested_output_names=["OUT"], inputs=r.inputs(), **more)

class TritonPythonModel:
    def execute(self, requests):
        r = requests[0]
${code.replaceAll(/^/gm, '        ')}
`

interface Asked {
  readonly request: InferRequest
  readonly call: NestedCall
}

/** An engine that notes what it is asked and answers with `answer`. */
function fakeEngine(answer: EngineCalls['infer']) {
  const asked: Asked[] = []
  const engine: EngineCalls = {
    ...NO_ENGINE,
    infer: (request, call) => {
      asked.push({ request, call })
      return answer(request, call)
    },
  }
  return { asked, engine }
}

const respond = (request: InferRequest, value: number) => ({
  model: request.model,
  version: '1',
  id: request.id,
  parameters: { big: 9_007_199_254_740_993n },
  outputs: [{ ...ints(value), name: 'OUT' }],
})

describe.skipIf(PYTHON === undefined)(`calls of models (${PYTHON ?? NO_PYTHON})`, { timeout: TIMEOUT }, () => {
  it('carry everything there and back', async () => {
    const { asked, engine } = fakeEngine((request) => Promise.resolve(respond(request, 42)))
    const code = `x = request(r, request_id="inner", correlation_id=7, flags=3, timeout=5000, model_version=2, parameters={"n": 9007199254740993}).exec()
return answer(int(x.output_tensors()[0].as_numpy().flat[0]), "9007199254740993" in x.parameters())`
    const { run } = await openPythonModel({ code: calling(code), change: { engine } })
    const outer = new RecordedRequest(ints(3, 4))
    outer.request.priority = 2
    expect(outputsOf(await run(outer))).toEqual([[42, 1]])
    expect(asked[0]?.request).toMatchObject({
      model: 'other',
      version: '2',
      id: 'inner',
      sequenceId: 7n,
      sequenceStart: true,
      sequenceEnd: true,
      timeout: 5_000,
      priority: 2,
      parameters: { n: 9_007_199_254_740_993n },
      inputs: [{ name: 'IN', datatype: 'INT32', shape: [1, 2] }],
      outputs: [{ name: 'OUT' }],
    })
    // The very array: it tells which request waits.
    expect(asked[0]?.call.chain).toBe(outer.chain)
    expect(asked[0]?.call.onResponse).toBeUndefined()
  })

  it('move large tensors both ways', async () => {
    const large = floats('OUT', [1, 2_000_000], 5)
    const { engine } = fakeEngine((request) => Promise.resolve({ ...respond(request, 0), outputs: [large] }))
    const code = `x = request(r).exec()
return answer(int(x.output_tensors()[0].as_numpy().sum()), int(r.inputs()[0].as_numpy().sum()))`
    const { run } = await openPythonModel({ code: calling(code), change: { engine } })
    const input = { ...ints(), shape: [1, 100_000], data: new Uint8Array(new Int32Array(100_000).fill(2).buffer) }
    for (let i = 0; i < 3; i++)
      expect(outputsOf(await run(new RecordedRequest(input)))).toEqual([[10_000_000, 200_000]])
  })

  it('give errors with their text and code', async () => {
    const { engine } = fakeEngine(() => Promise.reject(new ConchError('UNAVAILABLE', 'not now')))
    const code = `x = request(r).exec()
return answer(x.has_error(), x.error().message() == "not now", x.error().code() == pb_utils.TritonError.UNAVAILABLE)`
    const { run } = await openPythonModel({ code: calling(code), change: { engine } })
    expect(outputsOf(await run(new RecordedRequest()))).toEqual([[1, 1, 1]])
  })

  it('take every response of a decoupled model, errors between them', async () => {
    const { engine } = fakeEngine((request, { onResponse, onError }) => {
      onResponse?.(respond(request, 1), false)
      onError?.(new ConchError('INTERNAL', 'two'))
      onResponse?.(respond(request, 3), false)
      return Promise.resolve(undefined)
    })
    const code = `seen = []
for x in request(r).exec(decoupled=True):
    if x.has_error():
        seen.append(-1)
    elif len(x.output_tensors()) > 0:
        seen.append(int(x.output_tensors()[0].as_numpy().flat[0]))
return answer(*seen)`
    const { run } = await openPythonModel({ code: calling(code), change: { engine } })
    expect(outputsOf(await run(new RecordedRequest()))).toEqual([[1, -1, 3]])
  })

  it.each([
    ['its request', (outer: AbortController) => outer.abort()],
    ['its process', () => undefined],
  ])('end with %s', async (whose, cancel) => {
    const { asked, engine } = fakeEngine(
      (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(new ConchError('CANCELLED', 'gone')))
        }),
    )
    const code = `x = request(r).exec()
return answer(x.error().code() == pb_utils.TritonError.CANCELLED)`
    const { run, instance } = await openPythonModel({ code: calling(code), change: { engine } })
    const outer = new AbortController()
    const running = run(new RecordedRequest(ints(1), outer.signal)).then(outputsOf, () => 'failed')
    await until(() => asked.length === 1)
    cancel(outer)
    if (whose === 'its process') process.kill(instance.process?.pid ?? 0, 'SIGKILL')
    expect(await running).toEqual(whose === 'its process' ? 'failed' : [[1]])
    expect(asked[0]?.call.signal?.aborted).toBe(true)
  })

  it('load, unload and look after models', async () => {
    const done: string[] = []
    const engine: EngineCalls = {
      ...NO_ENGINE,
      load: (model, { config, files }) => {
        done.push(
          `load ${model} ${config ?? ''} ${[...(files ?? [])].map(([path, bytes]) => `${path}=${bytes.length}`).join()}`,
        )
        return Promise.resolve()
      },
      unload: (model, dependents) => {
        done.push(`unload ${model} ${dependents}`)
        return Promise.reject(new ConchError('INVALID_ARG', 'never'))
      },
      isReady: (model, version) => Promise.resolve(model === 'other' && version === '3'),
    }
    const code = `pb_utils.load_model("other", config='{"backend":"x"}', files={"file:1/model.x": b"12345"})
try:
    pb_utils.unload_model("other", unload_dependents=True)
except pb_utils.TritonModelException as e:
    return answer("never" in str(e), pb_utils.is_model_ready("other", "3"), pb_utils.is_model_ready("none"))`
    const { run } = await openPythonModel({ code: calling(code), change: { engine } })
    expect(outputsOf(await run(new RecordedRequest()))).toEqual([[1, 1, 0]])
    expect(done).toEqual(['load other {"backend":"x"} file:1/model.x=5', 'unload other true'])
  })

  it('count in metrics that go when their process does', async () => {
    const log: string[] = []
    let value = 0
    const series: CustomSeries = {
      increment: (by) => void (value += by),
      set: (to) => void (value = to),
      observe: () => undefined,
      value: () => value,
      close: () => void log.push('series closed'),
    }
    const engine: EngineCalls = {
      ...NO_ENGINE,
      createFamily: (kind, name, description) => {
        log.push(`${kind} ${name} ${description}`)
        return {
          createSeries: (labels) => {
            log.push(JSON.stringify(labels))
            return series
          },
          close: () => void log.push('family closed'),
        }
      },
    }
    const code = `self.family = pb_utils.MetricFamily(name="seen", description="how many", kind=pb_utils.MetricFamily.COUNTER)
self.metric = self.family.Metric(labels={"a": "b"})
self.metric.increment(2.5)
self.metric.increment(1)
return answer(int(self.metric.value() * 10))`
    const { run, instance } = await openPythonModel({ code: calling(code), change: { engine } })
    expect(outputsOf(await run(new RecordedRequest()))).toEqual([[35]])
    expect(log).toEqual(['counter seen how many', '{"a":"b"}'])
    process.kill(instance.process?.pid ?? 0, 'SIGKILL')
    await until(() => log.length === 4)
    expect(log.slice(2)).toEqual(['series closed', 'family closed'])
  })
})
