import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OnnxSignature } from '@conch/engine'
import type { Datatype } from '@conch/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { checkText } from '../check-text.ts'
import { checkSignature } from './check-signature.ts'
import type { Signature } from './deploy.schema.ts'
import { proposeConfig } from './propose-config.ts'

const tensor = (name: string, datatype: string, shape: readonly number[]) => ({
  name,
  datatype,
  shape,
  dims: shape.map(String),
})
const BATCHED: Signature = {
  inputs: [tensor('x', 'FP32', [-1, 4]), tensor('say "hi"', 'BYTES', [-1, -1])],
  outputs: [tensor('y', 'INT64', [-1])],
  opsets: [{ domain: '', version: 17 }],
  producer: 'p',
  irVersion: 8,
  size: 10,
  parameters: 1,
}
const FIXED: Signature = { ...BATCHED, inputs: [tensor('x', 'FP16', [1, 3])], outputs: [tensor('y', 'BOOL', [])] }
let model: string
beforeAll(async () => {
  model = await mkdtemp(join(tmpdir(), 'conch-propose-'))
})
afterAll(() => rm(model, { recursive: true }))

/** The same as the engine would have read it. */
function toOnnx(signature: Signature | null): OnnxSignature | null {
  if (signature === null) return null
  const values = (tensors: Signature['inputs']) =>
    tensors.map(({ name, datatype, shape }) => ({
      name,
      kind: 'TENSOR' as const,
      elementType: 1,
      datatype: datatype as Datatype,
      dims: shape,
      symbols: shape.map(() => ''),
    }))
  const { inputs, outputs, opsets, producer, irVersion } = signature
  const counts = {
    nodes: 1,
    initializers: 0,
    operators: [],
    externalFiles: [],
    overridable: [],
    metadata: {},
    graphName: '',
    producerVersion: '',
  }
  return { inputs: values(inputs), outputs: values(outputs), opsets, producer, irVersion, ...counts }
}

const propose = (signature: Signature | null, paths: readonly string[] = ['1/model.onnx']) =>
  proposeConfig({ model, name: 'net', paths, onnx: toOnnx(signature) })

it('proposes what loads: every proposal passes its own check', async () => {
  for (const signature of [BATCHED, FIXED, null]) {
    const text = await propose(signature)
    const checked = checkText(text, 'net', { versionFiles: ['model.onnx'], has: () => true })
    const more = signature === null ? [] : checkSignature(checked, signature)
    expect([...checked.problems, ...more].filter(({ severity }) => severity === 'error')).toEqual([])
    expect(checked.config.backend).toBe('onnxruntime')
  }
})

it('joins requests where the first dimension is free, and explains its choices', async () => {
  const text = await propose(BATCHED)
  expect(checkText(text, 'net').config).toMatchObject({
    max_batch_size: 4,
    input: [{ dims: [4] }, { name: 'say "hi"', data_type: 'TYPE_STRING', dims: [-1] }],
  })
  expect(text.match(/^# /gm)?.length).toBeGreaterThan(4)
  expect(checkText(await propose(FIXED), 'net').config).toMatchObject({ max_batch_size: 0, input: [{ dims: [1, 3] }] })
})

it('keeps the config that came with the model, byte for byte', async () => {
  await writeFile(join(model, 'config.pbtxt'), '# mine\nbackend: "x"')
  expect(await propose(BATCHED, ['config.pbtxt', '1/model.onnx'])).toBe('# mine\nbackend: "x"')
})

it('names what a config and a file disagree about, and where', () => {
  const text =
    'backend: "onnxruntime"\nmax_batch_size: 4\ninput { name: "z" data_type: TYPE_FP32 dims: 4 }\ninput {\n  name: "x"\n  data_type: TYPE_INT8\n  dims: 5\n}\n'
  const problems = checkSignature(checkText(text, 'net'), BATCHED)
  expect(problems.map(({ path, line, message }) => [path, line, message])).toEqual([
    ['input[0].name', 3, 'the model has no input \'z\'; it has x, say "hi"'],
    ['input[1].data_type', 6, "'x' is FP32 in the model's file"],
    ['input[1].dims', 7, "'x' has the shape [ -1, 4 ] in the model's file, its first dimension being the batch"],
  ])
})
