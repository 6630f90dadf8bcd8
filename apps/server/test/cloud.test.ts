import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConchError } from '@conch/protocol'
import type { Engine } from '@conch/engine'
import { expect, it, onTestFinished } from 'vitest'
import { startSageMaker, startVertex } from '../src/cloud.ts'
import { ServerLog } from '../src/log.ts'
import { parseServeOptions } from '../src/options.ts'
import { Tracer } from '../src/tracing/tracer.ts'
import { fakeEngine } from './fake-engine.ts'
import { get, post } from './open-face.ts'
import { RawClient } from './raw-client.ts'

type Cloud = 'sagemaker' | 'vertex'

async function openCloud(cloud: Cloud, overrides: Partial<Engine>, env: Record<string, string>, ...args: string[]) {
  const flags = [
    '--sagemaker-address=127.0.0.1',
    '--sagemaker-port=0',
    '--vertex-ai-address=127.0.0.1',
    '--vertex-ai-port=0',
  ]
  const options = parseServeOptions([...flags, '--log-error=false', ...args], env)
  const log = new ServerLog(options.log)
  const shared = {
    engine: fakeEngine(overrides),
    log,
    id: options.id,
    allowClientShm: false,
    trace: new Tracer(options.trace, log),
    access: undefined,
  }
  const face = await (cloud === 'sagemaker' ? startSageMaker : startVertex)(shared, options)
  onTestFinished(() => face.stop())
  return {
    ask: async (bytes: Buffer | string) => {
      const client = new RawClient(face.address)
      onTestFinished(() => client.end())
      return client.send(bytes).reply()
    },
  }
}

async function makeModels(files: Record<string, string>) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'conch-mme-')))
  onTestFinished(() => rm(root, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(root, path, '..'), { recursive: true })
    await writeFile(join(root, path), text)
  }
  return root
}

/** Models that are added and loaded, as an engine would. */
function loads() {
  const added: { root: string; folder: string; model: string }[] = []
  const overrides: Partial<Engine> = {
    addRepository: (root, mapping) => Promise.resolve(void added.push({ root, ...mapping })),
    removeRepository: (root) =>
      void added.splice(
        added.findIndex((one) => one.root === root),
        1,
      ),
    modelReady: () => Promise.resolve(added.length > 0),
    index: () => Promise.resolve([]),
  }
  return { added, overrides }
}

it('loads, lists, describes and drops models by URL', async () => {
  const root = await makeModels({ 'a/model/config.pbtxt': 'backend: "onnxruntime"' })
  const { added, overrides } = loads()
  const { ask } = await openCloud('sagemaker', overrides, {}, `--sagemaker-models-root=${root}`)
  const body = JSON.stringify({ model_name: 'h', url: `${root}/a` })
  expect((await ask(post('/models', body, 'X-Amzn-SageMaker-Target-Model: inner')))?.status).toBe(200)
  expect(added).toEqual([{ root: `${root}/a`, folder: 'model', model: 'inner' }])
  expect((await ask(post('/models', body)))?.status).toBe(409)
  expect((await ask(get('/models')))?.body.toString()).toBe(`{"models":[{"modelName":"h","modelUrl":"${root}/a"}]}`)
  expect((await ask(get('/models/h')))?.body.toString()).toBe(`{"modelName":"h","modelUrl":"${root}/a"}`)
  expect((await ask('DELETE /models/h HTTP/1.1\r\nHost: t\r\n\r\n'))?.status).toBe(200)
  expect(added).toEqual([])
  expect((await ask(get('/models/h')))?.status).toBe(404)
})

it('takes a folder that is the model itself, and the ensemble among several', async () => {
  const root = await makeModels({
    'one/config.pbtxt': '',
    'many/a/config.pbtxt': 'platform: "ensemble"',
    'many/b/config.pbtxt': 'backend: "python"',
  })
  const { added, overrides } = loads()
  const { ask } = await openCloud('sagemaker', overrides, {}, `--sagemaker-models-root=${root}`)
  await ask(post('/models', JSON.stringify({ model_name: 'x', url: `${root}/one` })))
  await ask(post('/models', JSON.stringify({ model_name: 'y', url: `${root}/many` })))
  expect(added).toEqual([
    { root, folder: 'one', model: 'x' },
    { root: `${root}/many`, folder: 'a', model: 'y' },
  ])
})

it.each([
  ['a path outside', '/etc'],
  ['a path that climbs', 'ROOT/../..'],
  ['the root itself', 'ROOT'],
  ['a link that leads out', 'ROOT/link'],
  ['a path that there is not', 'ROOT/none'],
  ['a device', '/proc/self/fd/0'],
])('refuses %s', async (_, url) => {
  const root = await makeModels({ 'a/config.pbtxt': '' })
  await symlink('/etc', join(root, 'link'))
  const { added, overrides } = loads()
  const { ask } = await openCloud('sagemaker', overrides, {}, `--sagemaker-models-root=${root}`)
  const reply = await ask(post('/models', JSON.stringify({ model_name: 'h', url: url.replace('ROOT', root) })))
  expect(reply?.status).toBe(400)
  expect(added).toEqual([])
})

it('answers errors of models with 400, and 507 when memory is spent', async () => {
  const infer = (text: string): Partial<Engine> => ({
    infer: (_, context) => {
      if (context?.timings) context.timings.queued = 1
      return Promise.reject(new ConchError('INTERNAL', text))
    },
  })
  const env = { SAGEMAKER_TRITON_DEFAULT_MODEL_NAME: 'echo' }
  const request = post(
    '/invocations',
    JSON.stringify({ inputs: [{ name: 'IN', datatype: 'FP32', shape: [1], data: [1] }] }),
  )
  const full = await openCloud('sagemaker', infer('CUDA out of memory. Tried'), env)
  expect((await full.ask(request))?.status).toBe(507)
  const broken = await openCloud('sagemaker', infer('boom'), env)
  expect((await broken.ask(request))?.status).toBe(400)
})

it('names what the platform did not set', async () => {
  await expect(openCloud('vertex', {}, {})).rejects.toThrow('API_PREDICT_ROUTE is not defined for Vertex AI endpoint')
  const env = { AIP_PREDICT_ROUTE: '/p', AIP_HEALTH_ROUTE: '/h' }
  await expect(openCloud('vertex', {}, env, '--vertex-ai-default-model=zz')).rejects.toThrow(
    "Expect the default model 'zz' is loaded",
  )
})

it.each([
  ['v2/health/ready', 200],
  ['metrics', 200],
  ['v2/repository/models/echo/load', 403],
  ['v2/systemsharedmemory/region/r/register', 403],
  ['v2/models/echo/generate', 400],
  ['v2/logging', 400],
  ['v2/models/echo/../../repository/models/x/load', 400],
])('redirects to %s: %i', async (path, status) => {
  const { ask } = await openCloud('vertex', {}, { AIP_PREDICT_ROUTE: '/p', AIP_HEALTH_ROUTE: '/h' })
  expect((await ask(post('/p', '', `X-Vertex-Ai-Triton-Redirect: ${path}`)))?.status).toBe(status)
})
