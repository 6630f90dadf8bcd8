import { symlink } from 'node:fs/promises'
import { parsePbtxt } from '@conch/protocol'
import { expect, it } from 'vitest'
import { makeDirectory } from '../testing.ts'
import { checkNamedFiles } from './named-files.ts'

async function check(text: string, libraries?: string) {
  const { directory, remove } = await makeDirectory({
    'models/m/1/model.onnx': 'x',
    'models/m/ops.so': 'x',
    'trusted/ops.so': 'x',
    'secret/ops.so': 'x',
  })
  await symlink(`${directory}/secret/ops.so`, `${directory}/trusted/link.so`)
  const { config } = parsePbtxt(text.replaceAll('$', directory))
  const model = `${directory}/models/m`
  const plan = {
    model: 'm',
    version: '1',
    config,
    written: { config, tree: undefined, path: 'm/config.pbtxt', origin: 'file' } as const,
    modelDirectory: model,
    root: `${directory}/models`,
    namespace: '',
    versionDirectory: `${model}/1`,
  }
  try {
    await checkNamedFiles(config, plan, libraries && `${directory}/${libraries}`)
    return 'accepted'
  } catch (error) {
    return (error as Error).message.replaceAll(directory, '$')
  } finally {
    await remove()
  }
}
const warmUp = (path: string) =>
  `model_warmup { name: "s" batch_size: 1 inputs { key: "IN" value { data_type: TYPE_FP32 dims: [ 1 ] input_data_file: "${path}" } } }`
const operators = (path: string) => `model_operations { op_library_filename: "${path}" }`

it.each([
  ['the model directory', operators('ops.so'), undefined],
  ['a trusted directory', operators('$/trusted/ops.so'), 'trusted'],
  ['nowhere', operators('1/missing.so'), undefined],
  ['the version directory', 'default_model_filename: "model.onnx"', undefined],
])('takes files in %s', async (_, text, libraries) => {
  expect(await check(text, libraries)).toBe('accepted')
})

it.each([
  [operators('$/secret/ops.so'), undefined],
  [operators('../../secret/ops.so'), undefined],
  [operators('$/secret/ops.so'), 'trusted'],
  [operators('$/trusted/../secret/ops.so'), 'trusted'],
  [operators('$/trusted/link.so'), 'trusted'],
  ['default_model_filename: "../../../secret/ops.so"', undefined],
  ['default_model_filename: "/etc/hostname"', undefined],
  [warmUp('../../secret/ops.so'), undefined],
  [warmUp('/etc/hostname'), undefined],
])('refuses %s', async (text, libraries) => {
  expect(await check(text, libraries)).toMatch(
    /^(model_operations.op_library_filename\[0\]|default_model_filename|model_warmup\["s"\].*input_data_file) of model 'm':/,
  )
})
