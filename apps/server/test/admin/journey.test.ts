import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeOnnx } from './onnx-file.ts'
import { openStand, signUp, type Stand } from './stand.ts'

/** From an .onnx file to an answer, with the real runtime: what a person does in the console. */
let stand: Stand
let admin: string
beforeAll(async () => {
  stand = await openStand({ files: {}, runtimes: 'real' })
  admin = await signUp(stand)
})
afterAll(() => stand.close())

async function upload(filename: string, bytes: Buffer): Promise<string> {
  const headers = { 'tus-resumable': '1.0.0', cookie: admin }
  const metadata = {
    'upload-length': String(bytes.byteLength),
    'upload-metadata': `filename ${Buffer.from(filename).toString('base64')}`,
  }
  const created = await stand.ask('/api/uploads', { method: 'POST', headers: { ...headers, ...metadata } })
  const location = created.headers.location ?? ''
  const patch = { ...headers, 'upload-offset': '0', 'content-type': 'application/offset+octet-stream' }
  await stand.ask(location, { method: 'PATCH', headers: patch, body: bytes })
  return location.split('/').at(-1) ?? ''
}
const change = async (procedure: string, input: unknown) => {
  const { data, error } = await stand.call('mutation', procedure, input, admin)
  expect(error).toBeUndefined()
  return data as Record<string, unknown>
}

it('goes from a file to its answer, and to a better version', async () => {
  const inspected = await change('deploy.inspect', { uploadId: await upload('my net.onnx', makeOnnx('Neg')) })
  expect(inspected).toMatchObject({
    kind: 'onnx',
    suggestedName: 'my_net',
    problems: [],
    warnings: [],
    signature: {
      inputs: [{ name: 'x', datatype: 'FP32', shape: [-1, 4], dims: ['batch', '4'] }],
      outputs: [{ name: 'scores', datatype: 'FP32', shape: [-1, 4] }],
      opsets: [{ domain: '', version: 17 }],
    },
  })
  const configText = String(inspected['proposedConfig'])
  const wrong = configText.replace('TYPE_FP32', 'TYPE_INT8')
  const checked = await change('deploy.check', { model: 'my_net', configText: wrong, uploadId: inspected['id'] })
  expect(checked).toMatchObject({
    problems: [{ severity: 'error', path: 'input[0].data_type', fix: { edits: [{ insert: 'TYPE_FP32' }] } }],
  })

  const publish = { model: 'my_net', version: 'next', configText, load: true, overwriteConfig: false }
  expect(await change('deploy.publish', { ...publish, uploadId: inspected['id'] })).toEqual({
    model: 'my_net',
    version: '1',
    state: 'READY',
    reason: '',
  })
  const example = (await stand.call('query', 'playground.example', { model: 'my_net' }, admin)).data
  const first = await change('playground.infer', { model: 'my_net', request: example })
  expect(first).toMatchObject({
    status: 200,
    outputs: [{ name: 'scores', preview: ['-0.1', '-0.2', '-0.3', '-0.4'], topk: [{ index: 0 }, {}, {}, {}] }],
  })

  const better = await change('deploy.inspect', { uploadId: await upload('my net.onnx', makeOnnx('Abs')) })
  expect(await change('deploy.publish', { ...publish, uploadId: better['id'] })).toMatchObject({
    version: '2',
    state: 'READY',
  })
  const second = await change('playground.infer', { model: 'my_net', request: example })
  expect(second).toMatchObject({ outputs: [{ preview: ['0.1', '0.2', '0.3', '0.4'] }] })
})

it('shows a broken file before, and why after', async () => {
  const cut = makeOnnx('Neg').subarray(0, 60)
  const inspected = await change('deploy.inspect', { uploadId: await upload('cut.onnx', cut) })
  expect(inspected).toMatchObject({ signature: null, warnings: [expect.stringMatching(/^1\/model\.onnx: /)] })
  const publish = {
    model: 'cut',
    version: 'next',
    configText: inspected['proposedConfig'],
    load: true,
    overwriteConfig: false,
  }
  const published = await change('deploy.publish', { ...publish, uploadId: inspected['id'] })
  expect(published).toMatchObject({
    version: '1',
    state: 'UNAVAILABLE',
    reason: expect.stringContaining('cut') as string,
  })
  expect(await stand.engine.modelReady('my_net', '')).toBe(true)
})
