import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import * as fc from 'fast-check'
import { BYTE_SIZE, DATATYPES, encodeBytes, type Datatype } from '@conch/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serve, type Served } from '../test/serve.ts'
import type { InferenceClient } from './contract.ts'
import { ClientError } from './error.ts'
import { GrpcClient } from './grpc/grpc-client.ts'
import { HttpClient } from './http/http-client.ts'
import type { InferCall } from './infer-call.ts'
import { openHttp } from './open-http.ts'

let served: Served
beforeAll(async () => {
  served = await serve()
}, 120_000)
afterAll(() => served.stop())

const row = Float32Array.from({ length: 16 }, (_, i) => i)
const ADD: InferCall = {
  inputs: ['INPUT0', 'INPUT1'].map((name) => ({ name, datatype: 'FP32', shape: [1, 16], values: row })),
}
const IRIS: InferCall = {
  inputs: [{ name: 'input', datatype: 'FP32', shape: [1, 4], values: [5.1, 3.5, 1.4, 0.2] }],
  outputs: [{ name: 'probabilities', classification: 2 }],
}

/** Any bits of any datatype; BYTES with anything in them. */
const tensors = fc
  .record({ datatype: fc.constantFrom(...DATATYPES), count: fc.integer({ min: 1, max: 8 }) })
  .chain(({ datatype, count }) => bytesOf(datatype, count).map((data) => ({ datatype, shape: [count], data })))

function bytesOf(datatype: Datatype, count: number): fc.Arbitrary<Uint8Array> {
  const length = { minLength: count, maxLength: count }
  if (datatype === 'BYTES') return fc.array(fc.uint8Array({ maxLength: 40 }), length).map(encodeBytes)
  if (datatype === 'BOOL') return fc.uint8Array({ ...length, max: 1 })
  const size = count * BYTE_SIZE[datatype]
  return fc.uint8Array({ minLength: size, maxLength: size })
}

async function failure(call: Promise<unknown>): Promise<ClientError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(ClientError)
  return error as ClientError
}

describe.each([
  ['HTTP by fetch', () => new HttpClient(`http://${served.http}`), 404, 400],
  ['HTTP by sockets', () => openHttp(`http://${served.http}`), 404, 400],
  ['gRPC', () => new GrpcClient(served.grpc), 5, 3],
] as const)('%s', (_, open: () => InferenceClient, notFound, invalid) => {
  let client: InferenceClient
  beforeAll(() => {
    client = open()
  })
  afterAll(() => client.close())

  it('infers', async () => {
    const result = await client.infer('add_sub', { ...ADD, id: 'ünique', version: '1' })
    expect([result.model, result.version, result.id]).toEqual(['add_sub', '1', 'ünique'])
    expect(result.values('OUTPUT0', 'FP32')).toEqual(row.map((x) => x * 2))
    expect(result.values('OUTPUT1', 'FP32')).toEqual(row.map(() => 0))
    expect(result.output('OUTPUT1').shape).toEqual([1, 16])
    expect(() => result.values('OUTPUT2', 'FP32')).toThrow("no output 'OUTPUT2'; it has: OUTPUT0, OUTPUT1")
    expect(() => result.values('OUTPUT0', 'INT64')).toThrow("'OUTPUT0' is FP32, not INT64")
  })

  it('asks for the outputs it wants, as classes if so', async () => {
    const one = await client.infer('add_sub', { ...ADD, outputs: ['OUTPUT1'] })
    expect(one.outputs.map(({ name }) => name)).toEqual(['OUTPUT1'])
    const classes = await client.infer('iris', IRIS)
    expect(classes.texts('probabilities')).toEqual([
      expect.stringMatching(/^0\.9\d+:0:setosa$/),
      expect.stringMatching(/:1:versicolor$/),
    ])
  })

  it('brings back any bits of any datatype', async () => {
    await fc.assert(
      fc.asyncProperty(tensors, async ({ datatype, shape, data }) => {
        const inputs = [{ name: 'INPUT0', datatype, shape, data }]
        const {
          datatype: type,
          shape: dims,
          data: back,
        } = (await client.infer(`identity_${datatype}`, { inputs })).output('OUTPUT0')
        expect([type, dims, [...back]]).toEqual([datatype, shape, [...data]])
      }),
      { numRuns: 150 },
    )
  })

  it('keeps 64-bit integers exact, as values and as parameters', async () => {
    const values = [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + 1n]
    const call: InferCall = {
      inputs: [{ name: 'INPUT0', datatype: 'INT64', shape: [3], values }],
      parameters: { big: 2n ** 62n + 1n },
    }
    expect([...(await client.infer('identity_INT64', call)).values('OUTPUT0', 'INT64')]).toEqual(values)
  })

  it('sends megabytes both ways', async () => {
    const values = Float32Array.from({ length: 2_000_000 }, (_, i) => i)
    const call: InferCall = { inputs: [{ name: 'INPUT0', datatype: 'FP32', shape: [values.length], values }] }
    const results = await Promise.all([1, 2, 3].map(() => client.infer('identity_FP32', call)))
    for (const result of results) {
      const back = result.output('OUTPUT0').data
      expect(Buffer.compare(back, Buffer.from(values.buffer))).toBe(0)
    }
  })

  it('has many calls in flight', async () => {
    const calls = Array.from({ length: 1_500 }, (_, i) => client.infer('add_sub', { ...ADD, id: String(i) }))
    expect((await Promise.all(calls)).map(({ id }) => Number(id))).toEqual(calls.map((_, i) => i))
  })

  it('tells what went wrong: code, status and the server’s words', async () => {
    expect(await failure(client.infer('nowhere', ADD))).toMatchObject({
      code: 'NOT_FOUND',
      status: notFound,
      message: "Request for unknown model: 'nowhere' is not found",
    })
    expect(await failure(client.infer('add_sub', { inputs: ADD.inputs.slice(1) }))).toMatchObject({
      code: 'INVALID_ARG',
      status: invalid,
    })
    const wrong: InferCall = { inputs: [{ name: 'I', datatype: 'FP32', shape: [3], values: [1, 2] }] }
    expect(await failure(client.infer('add_sub', wrong))).toMatchObject({
      code: 'INVALID_ARG',
      status: 0,
      message: "input 'I' has 2 elements, its shape [3] asks for 3",
    })
  })

  it('gives up when told to, or when time is up, and goes on with the next call', async () => {
    const slow: InferCall = { inputs: [{ name: 'INPUT0', datatype: 'FP32', shape: [1], values: [1] }] }
    const controller = new AbortController()
    const call = client.infer('slow', slow, { signal: controller.signal })
    controller.abort()
    expect(await failure(call)).toMatchObject({ code: 'CANCELLED', status: 0 })
    expect(await failure(client.infer('add_sub', ADD, { signal: controller.signal }))).toMatchObject({
      code: 'CANCELLED',
    })
    expect(await failure(client.infer('slow', slow, { timeoutMs: 30 }))).toMatchObject({ code: 'DEADLINE_EXCEEDED' })
    expect((await client.infer('add_sub', ADD, { timeoutMs: 10_000 })).model).toBe('add_sub')
  })

  it('asks how the server is', async () => {
    expect(await Promise.all([client.isLive(), client.isReady(), client.isModelReady('iris')])).toEqual([
      true,
      true,
      true,
    ])
    expect(await Promise.all([client.isModelReady('nowhere'), client.isModelReady('iris', { version: '7' })])).toEqual([
      false,
      false,
    ])
    const { extensions } = await client.serverMetadata()
    expect(extensions).toContain('binary_tensor_data')
  })

  it('describes models', async () => {
    expect(await client.modelMetadata('iris')).toMatchObject({
      name: 'iris',
      versions: ['1'],
      inputs: [{ name: 'input', datatype: 'FP32', shape: [-1, 4] }],
    })
    expect(await client.modelConfig('iris')).toMatchObject({
      name: 'iris',
      max_batch_size: 64,
      input: [{ data_type: 'TYPE_FP32' }],
    })
    expect((await failure(client.modelMetadata('nowhere'))).code).toBe('NOT_FOUND')
  })

  it('counts what was inferred', async () => {
    await client.infer('iris', IRIS)
    const [iris] = await client.statistics('iris')
    expect(iris?.inference_count).toBeGreaterThan(0n)
    expect(iris?.inference_stats.success.ns).toBeGreaterThan(0n)
    expect((await client.statistics('')).length).toBeGreaterThan(10)
  })

  it('loads, unloads and lists models', async () => {
    await client.unloadModel('iris', { dependents: true })
    expect(await client.isModelReady('iris')).toBe(false)
    const config = JSON.stringify({ backend: 'onnxruntime', max_batch_size: 3 })
    const file = readFileSync(new URL('../../../examples/models/iris/1/model.onnx', import.meta.url))
    await client.loadModel('iris', { config, files: { '5/model.onnx': file } })
    expect((await client.modelMetadata('iris')).versions).toEqual(['5'])
    expect((await client.modelConfig('iris')).max_batch_size).toBe(3)
    await client.loadModel('iris')
    const index = await client.repositoryIndex({ readyOnly: true })
    expect(index.find(({ name, state }) => name === 'iris' && state === 'READY')?.version).toBe('1')
    expect((await failure(client.loadModel('nowhere'))).code).toBe('INTERNAL')
  })

  it('reads and changes trace and log settings', async () => {
    expect((await client.traceSettings(''))['trace_rate']).toEqual(['1000'])
    expect((await client.traceSettings('iris', { trace_rate: '7' }))['trace_rate']).toEqual(['7'])
    expect((await client.traceSettings('iris', { trace_rate: null }))['trace_rate']).toEqual(['1000'])
    expect(await client.logSettings({ log_verbose_level: 1, log_info: false })).toMatchObject({
      log_verbose_level: 1,
      log_info: false,
    })
    expect(await client.logSettings({ log_verbose_level: 0, log_info: true })).toMatchObject({ log_format: 'default' })
  })

  it('infers in shared memory', async () => {
    const key = `/conch-client-${process.pid}`
    const bytes = new Uint8Array(8_192)
    bytes.set(new Uint8Array(row.buffer), 0)
    writeFileSync(`/dev/shm${key}`, bytes)
    try {
      await client.registerSystemRegion('r', { key, byteSize: 8_192 })
      expect(await client.systemRegions()).toEqual([{ name: 'r', key, offset: 0n, byte_size: 8_192n }])
      const result = await client.infer('identity_FP32', {
        inputs: [{ name: 'INPUT0', datatype: 'FP32', shape: [16], region: { name: 'r', offset: 0, byteSize: 64 } }],
        outputs: [{ name: 'OUTPUT0', region: { name: 'r', offset: 4_096, byteSize: 64 } }],
      })
      expect(() => result.values('OUTPUT0', 'FP32')).toThrow('is it in shared memory?')
      expect(readFileSync(`/dev/shm${key}`).subarray(4_096, 4_160)).toEqual(Buffer.from(row.buffer))
    } finally {
      await client.unregisterSystemRegion('')
      rmSync(`/dev/shm${key}`)
    }
    expect(await client.systemRegions()).toEqual([])
    expect(await client.cudaRegions()).toEqual([])
    const cuda = client.registerCudaRegion('c', { rawHandle: new Uint8Array(64), deviceId: 0, byteSize: 64 })
    expect((await failure(cuda)).message).toContain("'c'")
    await client.unregisterCudaRegion('')
  })
})

it('both wires tell the same of models', async () => {
  const [http, grpc] = [openHttp(`http://${served.http}`), new GrpcClient(served.grpc)]
  for (const model of ['add_sub', 'iris', 'slow']) {
    expect(await http.modelConfig(model)).toEqual(await grpc.modelConfig(model))
    expect(await http.modelMetadata(model)).toEqual(await grpc.modelMetadata(model))
  }
  expect(await http.repositoryIndex()).toEqual(await grpc.repositoryIndex())
  expect(await http.logSettings()).toEqual(await grpc.logSettings())
  expect(await http.traceSettings('iris')).toEqual(await grpc.traceSettings('iris'))
  const [[a], [b]] = [await http.statistics('slow'), await grpc.statistics('slow')]
  expect(Object.keys(a ?? {}).sort()).toEqual(Object.keys(b ?? {}).sort())
  http.close()
  grpc.close()
})

it.each(['gzip', 'deflate'] as const)('compresses with %s, over every wire', async (compression) => {
  const call: InferCall = {
    inputs: [{ name: 'INPUT0', datatype: 'FP32', shape: [5_000], values: new Float32Array(5_000) }],
  }
  const both = { requestCompression: compression, responseCompression: compression }
  for (const client of [
    new HttpClient(`http://${served.http}`),
    openHttp(`http://${served.http}`),
    new GrpcClient(served.grpc),
  ]) {
    expect((await client.infer('identity_FP32', call, both)).values('OUTPUT0', 'FP32')).toHaveLength(5_000)
    client.close()
  }
})

it('speaks JSON when asked to', async () => {
  const client = openHttp(`http://${served.http}`)
  const texts: InferCall = { inputs: [{ name: 'INPUT0', datatype: 'BYTES', shape: [2], values: ['ä"\n', ''] }] }
  expect((await client.infer('identity_BYTES', texts, { format: 'json' })).texts('OUTPUT0')).toEqual(['ä"\n', ''])
  const half: InferCall = { inputs: [{ name: 'INPUT0', datatype: 'FP16', shape: [1], values: [0.5] }] }
  expect((await failure(client.infer('identity_FP16', half, { format: 'json' }))).message).toContain('FP16')
  client.close()
})

it('generates, at once and as it comes', async () => {
  for (const client of [new HttpClient(`http://${served.http}`), openHttp(`http://${served.http}`)]) {
    expect(await client.generate('identity_INT64', { INPUT0: [2n ** 60n, 7n] })).toMatchObject({
      OUTPUT0: [2n ** 60n, 7],
    })
    const events = []
    for await (const event of client.generateStream('identity_BYTES', { INPUT0: 'text' })) events.push(event)
    expect(events).toMatchObject([{ model_name: 'identity_BYTES', OUTPUT0: 'text' }])
    expect((await failure(client.generateStream('nowhere', {}).next())).code).toBe('NOT_FOUND')
    client.close()
  }
})

it('streams over gRPC: answers in order, errors beside them, an end', async () => {
  const client = new GrpcClient(served.grpc)
  const stream = client.openStream()
  for (const id of ['a', 'b']) await stream.send('add_sub', { ...ADD, id })
  await stream.send('nowhere', { ...ADD, id: 'c' })
  await stream.send('add_sub', { ...ADD, id: 'd' })
  stream.end()
  const answers = []
  for await (const { id, result, error } of stream) answers.push([id, result?.model, error?.message])
  expect(answers).toEqual([
    ['a', 'add_sub', undefined],
    ['b', 'add_sub', undefined],
    ['c', undefined, "Request for unknown model: 'nowhere' is not found"],
    ['d', 'add_sub', undefined],
  ])
  await expect(stream.send('add_sub', ADD)).rejects.toThrow('the stream has ended')
  const results = []
  for await (const result of client.stream('add_sub', ADD)) results.push(result.version)
  expect(results).toEqual(['1'])
  await expect(client.stream('nowhere', ADD).next()).rejects.toThrow('unknown model')
  client.close()
})

it('an idle client does not keep a program alive', { timeout: 60_000 }, async () => {
  const code = `
    import { GrpcClient, HttpClient, openHttp } from '@conch/client/node'
    const clients = [new GrpcClient('${served.grpc}', { keepAlive: { timeMs: 60_000 } }), openHttp('http://${served.http}'), new HttpClient('http://${served.http}')]
    for (const client of clients) console.log(await client.isReady())`
  const args = ['--conditions=@conch/source', '--input-type=module-typescript', '-e', code]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 50_000 })
  expect(stdout).toBe('true\ntrue\ntrue\n')
})

const HAS_OPENSSL = spawnSync('openssl', ['version']).status === 0

it.skipIf(!HAS_OPENSSL)(
  'speaks TLS over both wires, and refuses a server that it has no reason to trust',
  { timeout: 120_000 },
  async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'conch-tls-'))
    const file = (name: string) => path.join(directory, name)
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-days',
        '2',
        '-keyout',
        file('key'),
        '-out',
        file('cert'),
        ...subject,
      ],
      { stdio: 'ignore' },
    )
    const flags = (face: string) => [
      `--${face}-use-ssl=true`,
      `--${face}-server-cert=${file('cert')}`,
      `--${face}-server-key=${file('key')}`,
    ]
    const secure = await serve(...flags('grpc'), ...flags('http'))
    const tls = { ca: readFileSync(file('cert')) }
    for (const client of [openHttp(`https://${secure.http}`, { tls }), new GrpcClient(secure.grpc, { tls })]) {
      expect((await client.infer('add_sub', ADD)).model).toBe('add_sub')
      client.close()
    }
    for (const client of [
      openHttp(`https://${secure.http}`),
      new GrpcClient(`https://${secure.grpc}`),
      new HttpClient(`https://${secure.http}`),
    ]) {
      expect(await failure(client.infer('add_sub', ADD))).toMatchObject({
        code: 'UNAVAILABLE',
        message: expect.stringMatching(/self-signed/) as string,
      })
      client.close()
    }
    await secure.stop()
    rmSync(directory, { recursive: true })
  },
)
