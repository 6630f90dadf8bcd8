import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BatchAnswers } from '../contract.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { closePythonModels, ints, NO_PYTHON, openPythonModel, PYTHON, outputsOf } from './models.suite.ts'
import { RecordedRequest, until } from './models.suite.ts'

const TIMEOUT = 60_000
afterEach(closePythonModels, TIMEOUT)

/** Does what the first number says; otherwise doubles it. */
const OBEDIENT = `
class TritonPythonModel:
    def initialize(self, args):
        self.args = args

    def execute(self, requests):
        return [self.answer(r) for r in requests]

    def answer(self, request):
        x = request.inputs()[0].as_numpy()
        order = int(x.flat[0])
        if order == -1:
            os._exit(3)
        if order == -2:
            ctypes.string_at(0)
        if order == -3:
            time.sleep(1000)
        if order == -4:
            os.write(3, b"\\xff" * 16)
            time.sleep(1000)
        if order == -5:
            raise ValueError("it says no")
        if order == -6:
            os.kill(os.getpid(), signal.SIGSTOP)
        if order == -7:
            sys.stderr.write("last words\\n")
            os.abort()
        if order == -8:
            return pb_utils.InferenceResponse(error=pb_utils.TritonError("not this one", pb_utils.TritonError.NOT_FOUND))
        return pb_utils.InferenceResponse([pb_utils.Tensor("OUT", x * 2)])
`

type Run = (...requests: readonly RecordedRequest[]) => Promise<BatchAnswers>

async function ask(run: Run, order: number): Promise<readonly number[]> {
  return outputsOf(await run(new RecordedRequest(ints(order))))[0] ?? []
}

function isAlive(pid: number | undefined): boolean {
  return (
    pid !== undefined && existsSync(`/proc/${pid}`) && !/State:\s+Z/.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  )
}

describe.skipIf(PYTHON === undefined)(`an instance (${PYTHON ?? NO_PYTHON})`, { timeout: TIMEOUT }, () => {
  it('answers each request of a batch by itself', async () => {
    const { run, instance } = await openPythonModel({ code: OBEDIENT })
    const answers = await run(
      new RecordedRequest(ints(4)),
      new RecordedRequest(ints(-8)),
      new RecordedRequest(ints(5, 6)),
    )
    expect(answers).toMatchObject([
      { outputs: [{ name: 'OUT', shape: [1, 1] }] },
      { error: { code: 'NOT_FOUND', message: 'not this one' } },
      { outputs: [{ name: 'OUT', shape: [1, 2] }] },
    ])
    expect(instance.healthy).toBe(true)
    expect(instance.process).toMatchObject({ restarts: 0, lastExit: undefined })
  })

  it('tells a failed batch as the original does, and goes on', async () => {
    const { run, directory } = await openPythonModel({ code: OBEDIENT })
    await expect(run(new RecordedRequest(ints(-5)))).rejects.toMatchObject({
      code: 'INTERNAL',
      message: expect.stringMatching(
        new RegExp(
          `^Failed to process the request\\(s\\) for model 'm_0_0', message: ValueError: it says no\n\nAt:\n  ${directory}/1/model.py`,
        ),
      ) as string,
    })
    expect(await ask(run, 21)).toEqual([42])
  })

  it.each([
    [-1, 'the process ended with exit code 3'],
    [-2, 'signal SIGSEGV'],
    [-4, 'it broke the rules of the conversation: a frame with impossible lengths'],
    [-7, 'signal SIGABRT'],
  ])('starts again when its process ends (order %d)', async (order, reason) => {
    const { run, instance, lines } = await openPythonModel({ code: OBEDIENT })
    const health: boolean[] = []
    instance.onHealth = (healthy) => void health.push(healthy)
    const before = instance.process?.pid
    expect(await ask(run, 1)).toEqual([2])
    await expect(run(new RecordedRequest(ints(order)))).rejects.toMatchObject({
      code: 'INTERNAL',
      message: expect.stringContaining(
        `Failed to process the request(s) for model instance 'm_0_0', message: Stub process 'm_0_0' is not healthy.`,
      ) as string,
    })
    expect(instance.healthy).toBe(false)
    await expect(run(new RecordedRequest(ints(1)))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await until(() => instance.healthy === true)
    expect(health).toEqual([false, true])
    expect(await ask(run, 2)).toEqual([4])
    expect(instance.process).toMatchObject({ restarts: 1, lastExit: expect.stringContaining(reason) as string })
    expect(instance.process?.pid).not.toBe(before)
    expect(isAlive(before)).toBe(false)
    expect(lines.some((line) => line.startsWith('error') && line.includes(reason))).toBe(true)
    expect(/it said last:(\n {4}.*)*\n {4}last words/.test(lines.join('\n'))).toBe(order === -7)
  })

  it('ends an execution that takes too long', async () => {
    const extra = 'parameters { key: "EXECUTION_TIMEOUT_MS" value { string_value: "300" } }'
    const { run, instance } = await openPythonModel({ code: OBEDIENT, extra })
    await expect(run(new RecordedRequest(ints(-3)))).rejects.toThrow('an execution took longer than 300 ms')
    await until(() => instance.healthy === true)
    expect(await ask(run, 2)).toEqual([4])
  })

  it('ends a process that stands still', async () => {
    const settings = { 'stub-timeout-seconds': '2', 'python-executable': PYTHON ?? '' }
    const { run } = await openPythonModel({ code: OBEDIENT, change: { settings } })
    await expect(run(new RecordedRequest(ints(-6)))).rejects.toThrow('the process stood still for 2 s')
  })

  it('finalizes when it is closed', async () => {
    const code = `${OBEDIENT}
    def finalize(self):
        open(os.path.join(pb_utils.get_model_dir(), "finalized"), "w").close()
`
    const { instance, directory } = await openPythonModel({ code })
    const pid = instance.process?.pid
    await Promise.all([instance.close(), instance.close()])
    expect(existsSync(join(directory, '1', 'finalized'))).toBe(true)
    expect(isAlive(pid)).toBe(false)
    expect(instance.healthy).toBe(false)
  })

  it('waits for a finalize that does not end only so long', async () => {
    const code = `${OBEDIENT}
    def finalize(self):
        while True: pass
`
    const settings = { 'stub-timeout-seconds': '1', 'python-executable': PYTHON ?? '' }
    const { instance } = await openPythonModel({ code, change: { settings } })
    const pid = instance.process?.pid
    await instance.close()
    expect(isAlive(pid)).toBe(false)
  })

  it.each([
    ['closed', 'close'],
    ['killed', 'kill'],
  ])('leaves nothing that its model started when it is %s', async (_, how) => {
    const code = `
class TritonPythonModel:
    def initialize(self, args):
        self.forked = os.fork()
        if self.forked == 0:
            time.sleep(1000)
        self.started = subprocess.Popen(["sleep", "1000"]).pid

    def execute(self, requests):
        return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array([[self.forked, self.started]], np.int32))]) for _ in requests]
`
    const { instance, run } = await openPythonModel({ code })
    const pids = await ask(run, 1)
    expect(pids.map(isAlive)).toEqual([true, true])
    if (how === 'close') await instance.close()
    else process.kill(instance.process?.pid ?? 0, 'SIGKILL')
    await until(() => !pids.some(isAlive))
  })

  it('writes what the model prints into the log, whatever it is', async () => {
    const code = `
class TritonPythonModel:
    def initialize(self, args):
        print("hello from", args["model_instance_name"])
        os.write(1, bytes(range(256)) * 100 + b"\\n")
        os.write(2, b"to the other side\\n")
        pb_utils.Logger.log_warn("careful")

    def execute(self, requests):
        return []
`
    const { lines } = await openPythonModel({ code })
    await until(() => lines.some((line) => line.includes('to the other side')))
    const text = lines.join('\n')
    expect(text).toContain('info [m_0_0] hello from m_0_0')
    expect(text).toContain('info [m_0_0] to the other side')
    expect(text).toMatch(/warning .*careful/)
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\0-\x08\x0b-\x1f]/)
  })

  it('hands large tensors over, in both directions and again', async () => {
    const { run } = await openPythonModel({ code: OBEDIENT })
    for (const length of [20_000, 3_000_000, 16_384, 3_000_000]) {
      const data = new Int32Array(length).fill(7)
      const input = { name: 'IN', datatype: 'INT32', shape: [1, length], data: new Uint8Array(data.buffer) } as const
      const expected = Array.from(data, (x) => 2 * x)
      const answers = outputsOf(await run(new RecordedRequest(input), new RecordedRequest(input)))
      expect(answers.map((answer) => answer.join() === expected.join())).toEqual([true, true])
    }
  })

  it('lets the model know that nobody waits for a request', async () => {
    const code = `
class TritonPythonModel:
    def execute(self, requests):
        end = time.time() + 20
        while time.time() < end and not requests[0].is_cancelled():
            time.sleep(0.005)
        return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array([[requests[0].is_cancelled()]], np.int32))])]
`
    const { run, instance } = await openPythonModel({ code })
    const controller = new AbortController()
    const running = run(new RecordedRequest(ints(1), controller.signal))
    controller.abort()
    expect(outputsOf(await running)).toEqual([[1]])
    expect(instance.healthy).toBe(true)
  })

  it('is asked whether it is ready when its model can tell', async () => {
    const code = `${OBEDIENT}
    def is_ready(self):
        if os.path.exists(os.path.join(pb_utils.get_model_dir(), "sick")):
            raise RuntimeError("sick")
        return not os.path.exists(os.path.join(pb_utils.get_model_dir(), "busy"))
`
    const { instance, directory } = await openPythonModel({ code })
    await expect(instance.checkReady?.()).resolves.toBeUndefined()
    writeFileSync(join(directory, '1', 'busy'), '')
    await expect(instance.checkReady?.()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: "Model 'm_0_0' is not ready (user-defined check failed).",
    })
    writeFileSync(join(directory, '1', 'sick'), '')
    await expect(instance.checkReady?.()).rejects.toMatchObject({ code: 'INTERNAL' })
    rmSync(join(directory, '1', 'sick'))
    expect(typeof (await openPythonModel({ code: OBEDIENT })).instance.checkReady).toBe('undefined')
  })
})
