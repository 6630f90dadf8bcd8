import { afterEach, describe, expect, it } from 'vitest'
import { closePythonModels, ints, NO_PYTHON, openPythonModel, PYTHON, RecordedRequest } from './models.suite.ts'

const TIMEOUT = 60_000
afterEach(closePythonModels, TIMEOUT)

const DECOUPLED = 'model_transaction_policy { decoupled: true }'
const response = (value: string) =>
  `pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array([[${value}]], np.int32))])`

describe.skipIf(PYTHON === undefined)(`response senders (${PYTHON ?? NO_PYTHON})`, { timeout: TIMEOUT }, () => {
  it('answer as often as they like, also when execute is over', async () => {
    const code = `
class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            threading.Thread(target=self.work, args=(request.get_response_sender(), int(request.inputs()[0].as_numpy().flat[0]))).start()

    def work(self, sender, count):
        for i in range(count):
            sender.send(${response('i')})
        sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
`
    const { run } = await openPythonModel({ code, extra: DECOUPLED })
    const requests = [0, 1, 100].map((count) => new RecordedRequest(ints(count)))
    expect(await run(...requests)).toEqual(['responded', 'responded', 'responded'])
    await Promise.all(requests.map(({ ended }) => ended))
    expect(requests.map(({ responses }) => responses.flat())).toEqual([
      [],
      [0],
      Array.from({ length: 100 }, (_, i) => i),
    ])
    expect(requests.every(({ error }) => error === undefined)).toBe(true)
  })

  it('that are dropped end their requests', async () => {
    const code = `
class TritonPythonModel:
    def execute(self, requests):
        sender = requests[0].get_response_sender()
        sender.send(${response('5')})
`
    const { run } = await openPythonModel({ code, extra: DECOUPLED })
    const requests = [new RecordedRequest(), new RecordedRequest()]
    await run(...requests)
    await Promise.all(requests.map(({ ended }) => ended))
    expect(requests.map(({ responses }) => responses)).toEqual([[[5]], []])
  })

  it('may send errors between responses', async () => {
    const code = `
class TritonPythonModel:
    def execute(self, requests):
        sender = requests[0].get_response_sender()
        sender.send(pb_utils.InferenceResponse(error=pb_utils.TritonError("in between", pb_utils.TritonError.UNAVAILABLE)))
        sender.send(${response('6')}, flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
`
    const { run } = await openPythonModel({ code, extra: DECOUPLED })
    const request = new RecordedRequest()
    await run(request)
    await request.ended
    expect(request.responses).toEqual([[6]])
    expect(request.error).toMatchObject({ code: 'UNAVAILABLE', message: 'in between' })
  })

  it('answer for models that are not decoupled too', async () => {
    const code = `
class TritonPythonModel:
    def execute(self, requests):
        requests[0].get_response_sender().send(${response('7')}, flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
        return [None, ${response('8')}]
`
    const { run } = await openPythonModel({ code })
    const requests = [new RecordedRequest(), new RecordedRequest()]
    expect(await run(...requests)).toMatchObject(['responded', { outputs: [{ name: 'OUT' }] }])
    await requests[0]?.ended
    expect(requests[0]?.responses).toEqual([[7]])
  })

  it('fail what a model leaves unanswered', async () => {
    const code = `
class TritonPythonModel:
    def execute(self, requests):
        return None
`
    const { run } = await openPythonModel({ code })
    const request = new RecordedRequest()
    await run(request).catch((error: unknown) => request.fail(error))
    await request.ended
    expect(request.error).toMatchObject({ code: 'INTERNAL', message: expect.stringContaining('m_0_0') as string })
  })

  it('fail with their process', async () => {
    const code = `
class TritonPythonModel:
    def execute(self, requests):
        self.sender = requests[0].get_response_sender()
        threading.Timer(0.1, lambda: os._exit(9)).start()
`
    const { run } = await openPythonModel({ code, extra: DECOUPLED })
    const request = new RecordedRequest()
    await run(request)
    await request.ended
    expect(request.error).toMatchObject({ message: expect.stringContaining('exit code 9') as string })
  })
})
