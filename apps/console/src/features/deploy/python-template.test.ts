import { parsePbtxt } from '@conch/protocol'
import { expect, it } from 'vitest'
import { writePythonConfig } from './python-config.ts'
import { addTensor, checkForm, FIRST_FORM, parseDims, readSignature, type PythonForm } from './python-form.ts'
import { writePythonTemplate } from './python-template.ts'

const tensor = (name: string, change: object = {}) => ({
  key: 0,
  name,
  datatype: 'FP32' as const,
  dims: '4',
  optional: false,
  ...change,
})
function read(change: Partial<PythonForm>) {
  const signature = readSignature({ ...FIRST_FORM, ...change })
  if (signature === null) throw new Error('the form has problems')
  return signature
}

it('reads sizes as people write them', () => {
  expect(parseDims('3, -1')).toEqual([3, -1])
  expect(parseDims('[ 3 x any ]')).toEqual([3, -1])
  expect(parseDims('')).toEqual([])
  expect([parseDims('0'), parseDims('-2'), parseDims('a'), parseDims('1.5')]).toEqual([null, null, null, null])
})

it('names every mistake in the form', () => {
  const form: PythonForm = {
    inputs: [tensor('a'), tensor('a', { dims: '0' }), tensor(' ')],
    outputs: [],
    maxBatch: '-1',
    decoupled: false,
    instances: '0',
  }
  expect(checkForm(form).map(({ field }) => field)).toEqual([
    'inputs.1.name',
    'inputs.1.dims',
    'inputs.2.name',
    'outputs',
    'maxBatch',
    'instances',
  ])
  expect(readSignature(form)).toBeNull()
})

it('finds a free name for a further tensor', () => {
  const rows = [tensor('INPUT'), tensor('INPUT2')]
  expect(addTensor(rows, 'INPUT', 9).at(-1)).toMatchObject({ key: 9, name: 'INPUT3', dims: '4' })
  expect(addTensor([], 'OUTPUT', 9)).toMatchObject([{ name: 'OUTPUT' }])
})

it('writes a config that says what the form says', () => {
  const signature = read({
    inputs: [tensor('TEXT', { datatype: 'BYTES', dims: '-1', optional: true })],
    maxBatch: '8',
    decoupled: true,
    instances: '3',
  })
  const { config, problems } = parsePbtxt(writePythonConfig(signature))
  expect(problems).toEqual([])
  expect(config).toMatchObject({
    backend: 'python',
    max_batch_size: 8,
    dynamic_batching: {},
    input: [{ name: 'TEXT', data_type: 'TYPE_STRING', dims: [-1], optional: true }],
    output: [{ name: 'OUTPUT', data_type: 'TYPE_FP32', dims: [-1] }],
    model_transaction_policy: { decoupled: true },
    instance_group: [{ kind: 'KIND_CPU', count: 3 }],
  })
})

it('writes a model that gives back what fits', () => {
  const code = writePythonTemplate(read({}))
  expect(code).toContain('input = pb_utils.get_input_tensor_by_name(request, "INPUT").as_numpy()')
  expect(code).toContain('output = input.copy()')
  expect(code).toContain('pb_utils.Tensor("OUTPUT", output),')
})

it('writes zeros of the promised shape where nothing fits', () => {
  const outputs = [tensor('N', { datatype: 'INT64', dims: '3, -1' }), tensor('S', { datatype: 'BYTES', dims: '1' })]
  expect(writePythonTemplate(read({ outputs }))).toContain('n = np.zeros((3, 1), dtype=np.int64)')
  const batched = writePythonTemplate(read({ outputs, maxBatch: '4' }))
  expect(batched).toContain('n = np.zeros((len(input), 3, 1), dtype=np.int64)')
  expect(batched).toContain('s = np.full((len(input), 1), b"", dtype=np.object_)')
})

it('finds names that Python takes', () => {
  const code = writePythonTemplate(
    read({
      inputs: [tensor('in'), tensor('3d points'), tensor('für'), tensor('a.b'), tensor('a-b')],
      outputs: [tensor('np')],
    }),
  )
  for (const name of ['in_ =', 't3d_points =', 'fu_r =', 'a_b =', 'a_b_ =', 'np_ =']) expect(code).toContain(` ${name}`)
})

it('answers bit by bit when it is decoupled', () => {
  const code = writePythonTemplate(read({ decoupled: true }))
  expect(code).toContain('sender.send(pb_utils.InferenceResponse(output_tensors=tensors))')
  expect(code).toContain('TRITONSERVER_RESPONSE_COMPLETE_FINAL')
  expect(code).not.toContain('responses')
})
