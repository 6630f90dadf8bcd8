import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createPythonBackend } from './backend.ts'
import { mayComplete } from './complete-config.ts'
import { closePythonModels, makePythonModel, NO_PYTHON, openPythonModel, PYTHON } from './models.suite.ts'

const TIMEOUT = 60_000
afterEach(closePythonModels, TIMEOUT)

const PLAIN = `
class TritonPythonModel:
    def execute(self, requests):
        return []
`

describe('before a process is started', () => {
  it.each([
    ['not_there.py', "Python model file not found in 'm/1/not_there.py'"],
    ['model.pt', `Model name must end with '.py'. Model name is "model.pt".`],
  ])('a model file %s is refused', async (name, message) => {
    const { config, context } = await makePythonModel({ code: PLAIN, extra: `default_model_filename: "${name}"` })
    await expect(createPythonBackend().load(config, context)).rejects.toMatchObject({ message })
  })

  it.each(['m;x', 'm$(x)', "m'x", 'm x!'])('the name %j is refused', async (name) => {
    const { config, context } = await makePythonModel({ code: PLAIN })
    await expect(createPythonBackend().load({ ...config, name }, context)).rejects.toMatchObject({
      code: 'INVALID_ARG',
      message: 'Invalid stub name: contains invalid characters',
    })
  })

  it('a place of inputs that there is not is refused', async () => {
    const extra = 'parameters { key: "FORCE_CPU_ONLY_INPUT_TENSORS" value { string_value: "maybe" } }'
    const { config, context } = await makePythonModel({ code: PLAIN, extra })
    await expect(createPythonBackend().load(config, context)).rejects.toMatchObject({
      code: 'UNSUPPORTED',
      message: "Incorrect value for FORCE_CPU_ONLY_INPUT_TENSORS: maybe'",
    })
  })

  it.each([
    [PLAIN, false],
    ['class TritonPythonModel(object):\n  pass', false],
    ['import x\nclass TritonPythonModel( ):\n  pass', false],
    ['class TritonPythonModel(Base):\n  pass', true],
    ['@decorated\nclass TritonPythonModel:\n  pass', true],
    ['from other import TritonPythonModel', true],
    [`${PLAIN}\n    def auto_complete_config(c): pass`, true],
    ['', true],
  ])('%j may complete its config: %j', async (code, may) => {
    const { directory } = await makePythonModel({ code: PLAIN })
    const file = join(directory, '1', 'model.py')
    writeFileSync(file, code)
    expect(await mayComplete(file)).toBe(may)
  })
})

describe.skipIf(PYTHON === undefined)(`loading (${PYTHON ?? NO_PYTHON})`, { timeout: TIMEOUT }, () => {
  it.each([
    ['raise RuntimeError("no way")', 'RuntimeError: no way\n\nAt:\n'],
    ['def broken(:', 'SyntaxError'],
    ['import not_there_at_all', "ModuleNotFoundError: No module named 'not_there_at_all'"],
    ['class Other: pass', "AttributeError: module '1.model' has no attribute 'TritonPythonModel'"],
    ['os._exit(4)', "Stub process 'm_0_0' is not healthy. Reason: the process ended with exit code 4"],
  ])('tells why %j fails', async (code, message) => {
    const { config, context } = await makePythonModel({ code })
    const model = await createPythonBackend().load(config, context)
    const opening = model.createInstance({ name: 'm_0_0', kind: 'KIND_CPU', deviceId: 0, profiles: [] })
    await expect(opening).rejects.toMatchObject({
      code: 'INTERNAL',
      message: expect.stringContaining(message) as string,
    })
  })

  it('gives initialize what the original gives', async () => {
    const code = `${PLAIN}
    def initialize(self, args):
        config = args.pop("model_config")
        print("args", sorted(args.items()), type(config).__name__, "TYPE_INT32" in config, pb_utils.get_model_dir())
`
    const { lines, directory } = await openPythonModel({ code })
    const line = lines.find((one) => one.includes('args ')) ?? ''
    for (const [name, value] of Object.entries({
      model_instance_device_id: '0',
      model_instance_kind: 'CPU',
      model_instance_name: 'm_0_0',
      model_name: 'm',
      model_repository: directory,
      model_version: '1',
    })) {
      expect(line).toContain(`('${name}', '${value}')`)
    }
    expect(line).toContain(`str True ${join(directory, '1')}`)
  })

  it('completes a config', async () => {
    const code = `${PLAIN}
    @staticmethod
    def auto_complete_config(config):
        config.add_input({"name": "MORE", "data_type": "TYPE_FP32", "dims": [4], "optional": True})
        config.set_max_batch_size(8)
        config.set_dynamic_batching()
        return config
`
    const { config } = await openPythonModel({ code })
    expect(config.input.map(({ name, optional, dims }) => [name, optional, dims])).toEqual([
      ['IN', false, [-1]],
      ['MORE', true, [4]],
    ])
    expect(config.dynamic_batching).toBeDefined()
  })

  it('tells what a completion does wrong', async () => {
    const complete = (body: string) => `${PLAIN}
    @staticmethod
    def auto_complete_config(config):
        ${body}
`
    const run = async (body: string) => {
      const { config, context } = await makePythonModel({ code: complete(body) })
      return createPythonBackend().complete(config, context)
    }
    await expect(run('return 5')).rejects.toMatchObject({
      message: "auto_complete_config function in model 'm' must return a valid pb.ModelConfig object.",
    })
    await expect(run('raise Exception("ac")')).rejects.toMatchObject({
      message: expect.stringMatching(/^Exception: ac\n\nAt:\n/) as string,
    })
    await expect(run('os.kill(os.getpid(), 9)')).rejects.toMatchObject({
      message: expect.stringContaining('signal SIGKILL') as string,
    })
  })
})
