import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { deflateSync, gzipSync } from 'node:zlib'
import {
  decodeMessage,
  encodeHeaders,
  encodeInferRequest,
  encodeMessage,
  FRAME,
  PREFACE,
  parseInferResponse,
  parseStreamResponse,
  writeFrameHeader,
} from '@conch/protocol'
import type { EncodedMessage, InferRequest, ModelConfig } from '@conch/protocol'
import { expect, it, onTestFinished, vi } from 'vitest'
import { begin, call, frame, openGrpc, unframe } from './open-grpc.ts'

const EMPTY = frame(new Uint8Array(0))
const join = ({ parts }: EncodedMessage) => Buffer.concat(parts)
function inferRequest(change: Partial<InferRequest> = {}, elements = 4): Buffer {
  const data = new Uint8Array(new Float32Array(elements).fill(1.5).buffer)
  return join(
    encodeInferRequest({
      model: 'echo',
      version: '',
      id: 'a',
      sequenceId: 0n,
      sequenceStart: false,
      sequenceEnd: false,
      priority: 0,
      timeout: 0,
      parameters: {},
      inputs: [{ name: 'IN', datatype: 'FP32', shape: [elements], data }],
      outputs: [],
      binaryOutputs: true,
      ...change,
    }),
  )
}

it('answers facts about server and models', async () => {
  const { session } = await openGrpc()
  const live = await call(session, 'ServerLive', EMPTY)
  expect(live).toMatchObject({ http: 200, status: '0', body: frame(Uint8Array.of(8, 1)) })
  const metadata = await call(session, 'ModelMetadata', frame(encodeMessage('ModelMetadataRequest', { name: 'echo' })))
  expect(decodeMessage('ModelMetadataResponse', unframe(metadata.body)[0] ?? EMPTY)).toMatchObject({
    name: 'echo',
    inputs: [{ name: 'IN', datatype: 'FP32', shape: [-1] }],
  })
  const health = await call(session, '/grpc.health.v1.Health/Check', EMPTY)
  expect(health).toMatchObject({ status: '0', body: frame(Uint8Array.of(8, 1)) })
  const unknown = await call(session, 'ModelConfig', frame(encodeMessage('ModelConfigRequest', { name: 'x' })))
  expect(unknown).toMatchObject({ status: '5', message: "Request for unknown model: 'x' is not found" })
})

it.each([1, 2_000, 200_000])('gives %i elements back as they were', async (elements) => {
  const { session } = await openGrpc()
  const { status, body } = await call(session, 'ModelInfer', frame(inferRequest({}, elements)))
  expect(status).toBe('0')
  const response = parseInferResponse(unframe(body)[0] ?? EMPTY)
  expect(response).toMatchObject({
    model: 'echo',
    version: '1',
    id: 'a',
    outputs: [{ name: 'OUT', shape: [elements] }],
  })
  expect(
    Buffer.from(response.outputs[0]?.data ?? EMPTY).equals(Buffer.from(new Float32Array(elements).fill(1.5).buffer)),
  ).toBe(true)
})

it('takes a message in pieces of one byte', async () => {
  const { session } = await openGrpc()
  const { stream, ended } = begin(session, 'ModelInfer')
  for (const byte of frame(inferRequest())) stream.write(Buffer.of(byte))
  stream.end()
  expect(await ended).toMatchObject({ status: '0' })
})

it.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
])('takes and gives %s', async (encoding, compress) => {
  const { session } = await openGrpc({}, '--grpc-infer-response-compression-level=high')
  const headers = { 'grpc-encoding': encoding, 'grpc-accept-encoding': `identity,${encoding}` }
  const { status, body } = await call(session, 'ModelInfer', frame(compress(inferRequest({}, 9_000)), 1), headers)
  expect(status).toBe('0')
  expect(body[0]).toBe(1)
  expect(body.length).toBeLessThan(2_000)
})

it.each([
  ['a compressed message without an encoding', frame(gzipSync('x'), 1), {}, '13'],
  ['an unknown encoding', frame(gzipSync('x'), 1), { 'grpc-encoding': 'snappy' }, '12'],
  ['garbage for gzip', frame(Buffer.from('garbage'), 1), { 'grpc-encoding': 'gzip' }, '13'],
  ['a length of 4 GiB', Buffer.of(0, 255, 255, 255, 255, 1), {}, '8'],
  ['half a message', frame(inferRequest()).subarray(0, 20), {}, '13'],
  ['no message', Buffer.alloc(0), {}, '12'],
  ['two messages', Buffer.concat([EMPTY, EMPTY]), {}, '12'],
  ['bytes that are no protobuf', frame(Buffer.from([0x0a, 0xff])), {}, '13'],
  ['metadata of 20 kB', EMPTY, { big: 'x'.repeat(20_000) }, '8'],
])('refuses %s, and serves the next call', async (_, body, headers, status) => {
  const { session } = await openGrpc()
  expect(await call(session, 'ModelInfer', body, headers)).toMatchObject({ status })
  expect(await call(session, 'ServerLive', EMPTY)).toMatchObject({ status: '0' })
})

it('never expands a message beyond its limit', async () => {
  const { session } = await openGrpc()
  const bomb = gzipSync(Buffer.alloc(300 * 2 ** 20), { level: 1 })
  const before = process.memoryUsage().rss
  const { status, message } = await call(session, 'ModelInfer', frame(bomb, 1), { 'grpc-encoding': 'gzip' })
  expect({ status, message }).toMatchObject({ status: '8', message: /larger than max/.exec(message)?.input })
  expect(process.memoryUsage().rss - before).toBeLessThan(600 * 2 ** 20)
})

it('tells apart what is no gRPC call, and unknown methods', async () => {
  const { session } = await openGrpc()
  expect(await call(session, 'Nope', EMPTY)).toMatchObject({ status: '12', message: '' })
  expect(await call(session, 'ServerLive', EMPTY, { 'content-type': 'application/json' })).toMatchObject({ http: 415 })
})

it('restricts methods by metadata', async () => {
  const { session } = await openGrpc({}, '--grpc-restricted-protocol=model-repository,inference:admin-key=s3cret')
  const refused = "This protocol is restricted, expecting header 'triton-grpc-protocol-admin-key'"
  expect(await call(session, 'RepositoryIndex', EMPTY)).toMatchObject({ status: '14', message: refused })
  expect(await call(session, 'ModelStreamInfer', EMPTY)).toMatchObject({ status: '14', message: refused })
  expect(await call(session, 'ServerLive', EMPTY)).toMatchObject({ status: '0' })
  const key = { 'triton-grpc-protocol-admin-key': 's3cret' }
  expect(await call(session, 'RepositoryIndex', EMPTY, key)).toMatchObject({ status: '0' })
})

it('ends a call at its deadline and cancels what runs for it', async () => {
  const aborted = vi.fn<() => void>()
  const infer = (_: InferRequest, context?: { signal?: AbortSignal | undefined }) =>
    new Promise<never>(() => context?.signal?.addEventListener('abort', aborted))
  const { session } = await openGrpc({ infer })
  expect(await call(session, 'ModelInfer', frame(inferRequest()), { 'grpc-timeout': '30m' })).toMatchObject({
    status: '4',
  })
  expect(aborted).toHaveBeenCalledTimes(1)
})

it('cancels when the client does, and when it is gone', async () => {
  const begun: AbortSignal[] = []
  const infer = (_: InferRequest, context?: { signal?: AbortSignal | undefined }) => {
    if (context?.signal) begun.push(context.signal)
    return new Promise<never>(() => undefined)
  }
  const { open, session } = await openGrpc({ infer })
  const first = begin(session, 'ModelInfer')
  first.stream.end(frame(inferRequest()))
  await vi.waitFor(() => expect(begun).toHaveLength(1))
  first.stream.close(8)
  const other = open()
  begin(other, 'ModelInfer').stream.end(frame(inferRequest()))
  await vi.waitFor(() => expect(begun).toHaveLength(2))
  other.destroy()
  await vi.waitFor(() => expect(begun.map(({ aborted }) => aborted)).toEqual([true, true]))
})

const streamed = (body: Buffer) =>
  unframe(body).map((message) => {
    const { error, response } = parseStreamResponse(message)
    return `${response.id}${error === '' ? '' : `: ${error}`}`
  })

it('answers a stream in the order of its requests', async () => {
  const gates: (() => void)[] = []
  const infer = async (request: InferRequest) => {
    await new Promise<void>((resolve) => gates.push(resolve))
    return { model: 'echo', version: '1', id: request.id, parameters: {}, outputs: [] }
  }
  const { session } = await openGrpc({ infer })
  const { stream, ended } = begin(session, 'ModelStreamInfer')
  for (const id of ['1', '2', '3']) stream.write(frame(inferRequest({ id })))
  stream.end(frame(inferRequest({ id: '4', model: 'nope' })))
  await vi.waitFor(() => expect(gates).toHaveLength(3))
  for (const open of gates.reverse()) open()
  const { status, body } = await ended
  expect(status).toBe('0')
  expect(streamed(body)).toEqual(['1', '2', '3', "4: Request for unknown model: 'nope' is not found"])
})

it('ends the stream with the status of an error when asked to', async () => {
  const { session } = await openGrpc({
    infer: (_, context) => {
      if (context?.timings) context.timings.queued = 1
      return Promise.reject(new Error('boom'))
    },
  })
  const ended = call(session, 'ModelStreamInfer', frame(inferRequest()), { triton_grpc_error: 'true' })
  expect(await ended).toMatchObject({ status: '13', message: 'boom' })
})

it('bounds what waits for a stream that is not read', async () => {
  const config = () => ({ max_batch_size: 0, model_transaction_policy: { decoupled: true } }) as ModelConfig
  const data = new Uint8Array(2 ** 20)
  let sent = 0
  const { session } = await openGrpc({
    config,
    stream: async (request, onResponse, context) => {
      for (; context?.signal?.aborted !== true && sent < 500; sent += 1) {
        onResponse(
          {
            model: 'echo',
            version: '1',
            id: request.id,
            parameters: {},
            outputs: [{ name: 'O', datatype: 'UINT8', shape: [data.length], data }],
          },
          false,
        )
        await wait(0)
      }
    },
  })
  const { stream, ended } = begin(session, 'ModelStreamInfer')
  stream.pause()
  stream.end(frame(inferRequest()))
  await vi.waitFor(() => expect(sent).toBeGreaterThan(64), 10_000)
  await wait(50)
  expect(sent).toBeLessThan(120)
  stream.resume()
  expect(await ended).toMatchObject({ status: '8' })
})

/** A client that writes frames by hand. */
async function openRaw() {
  const { port, session } = await openGrpc()
  const socket: Socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let received = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => (received = Buffer.concat([received, chunk])))
  socket.on('error', () => undefined)
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()))
  socket.write(Buffer.concat([Buffer.from(PREFACE), raw(FRAME.SETTINGS, 0, 0)]))
  return { socket, session, closed, goAway: () => findGoAway(received) }
}

function raw(type: number, flags: number, stream: number, payload: Uint8Array = new Uint8Array(0)): Buffer {
  const head = Buffer.alloc(9)
  writeFrameHeader(head, 0, { size: payload.length, type, flags, stream })
  return Buffer.concat([head, payload])
}

/** Error code of a GOAWAY frame and its text. */
function findGoAway(received: Buffer): [code: number, text: string] | undefined {
  for (let at = 0; at + 9 <= received.length;) {
    const size = received.readUIntBE(at, 3)
    if (received[at + 3] === FRAME.GOAWAY)
      return [received.readUInt32BE(at + 13), received.toString('latin1', at + 17, at + 9 + size)]
    at += 9 + size
  }
  return undefined
}

const HEADERS = encodeHeaders([
  ':method',
  'POST',
  ':scheme',
  'http',
  ':path',
  '/inference.GRPCInferenceService/ServerLive',
  ':authority',
  'x',
  'content-type',
  'application/grpc',
  'te',
  'trailers',
])
const CALM = 11

it.each([
  [
    'calls that are opened and cancelled',
    (i: number) =>
      Buffer.concat([raw(FRAME.HEADERS, 4, i * 2 + 1, HEADERS), raw(FRAME.RST_STREAM, 0, i * 2 + 1, Buffer.alloc(4))]),
    CALM,
  ],
  ['pings', () => raw(FRAME.PING, 0, 0, Buffer.alloc(8)), CALM],
  ['settings', () => raw(FRAME.SETTINGS, 0, 0), CALM],
  ['empty data', (i: number) => (i === 0 ? raw(FRAME.HEADERS, 4, 1, HEADERS) : raw(FRAME.DATA, 0, 1)), CALM],
  [
    'headers without end',
    (i: number) => raw(i === 0 ? FRAME.HEADERS : FRAME.CONTINUATION, 0, 1, Buffer.alloc(10_000, 0x82)),
    CALM,
  ],
  ['unknown frames', () => raw(200, 0, 0, Buffer.alloc(8)), CALM],
  ['data on no stream', () => raw(FRAME.DATA, 0, 7, Buffer.alloc(8)), 1],
  ['a broken header block', () => raw(FRAME.HEADERS, 4, 1, Buffer.of(0x80)), 9],
  ['a frame that is too large', () => raw(FRAME.HEADERS, 4, 1, Buffer.alloc(70_000)), 6],
])('ends a connection that floods it with %s, and serves the others', async (_, make, code) => {
  const { socket, session, closed, goAway } = await openRaw()
  const many = code === CALM ? 3_000 : 40
  socket.write(Buffer.concat(Array.from({ length: many }, (_, i) => make(i))))
  await closed
  expect(goAway()?.[0]).toBe(code)
  expect(await call(session, 'ServerLive', EMPTY)).toMatchObject({ status: '0' })
})

it('welcomes a ping after every answer, and one alone in five minutes', async () => {
  const { open } = await openGrpc()
  const session = open()
  const { stream } = begin(session, 'ModelStreamInfer')
  let answers = 0
  stream.on('data', () => (answers += 1))
  const ping = () =>
    new Promise<void>((resolve, reject) => session.ping((error) => (error ? reject(error) : resolve())))
  for (let i = 1; i <= 10; i += 1) {
    stream.write(frame(inferRequest({ id: String(i) })))
    await vi.waitFor(() => expect(answers).toBe(i))
    await ping()
  }
  const closed = new Promise((resolve) => session.on('close', resolve))
  await expect(Promise.all(Array.from({ length: 5 }, ping))).rejects.toThrow(/session|ping|closed|destroyed|cancel/i)
  await closed
})

it('sends a browser or an HTTP/1 client away', async () => {
  const { port } = await openGrpc()
  const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'))
  socket.resume()
  const closed = new Promise<boolean>((resolve) => socket.on('close', resolve))
  expect(await closed).toBe(false)
})

it('drains: what runs is answered, new inferences are refused', async () => {
  let finish = () => undefined as void
  const infer = async (request: InferRequest) => {
    await new Promise<void>((resolve) => (finish = resolve))
    return { model: 'echo', version: '1', id: request.id, parameters: {}, outputs: [] }
  }
  const { face, session } = await openGrpc({ infer })
  const running = call(session, 'ModelInfer', frame(inferRequest()))
  await vi.waitFor(() => expect(finish.toString()).not.toContain('undefined'))
  face.drain()
  const text = 'GRPC server is shutting down and has stopped accepting new requests.'
  expect(await call(session, 'ModelInfer', frame(inferRequest()))).toMatchObject({ status: '14', message: text })
  finish()
  expect(await running).toMatchObject({ status: '0' })
})
