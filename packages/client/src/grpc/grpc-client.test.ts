import { once } from 'node:events'
import { createServer, type Http2Session, type ServerHttp2Stream } from 'node:http2'
import { createServer as createRaw, type AddressInfo, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { encodeInferMessage, encodeMessage, encodeStreamMessage, type EncodedMessage } from '@conch/protocol'
import { expect, it, onTestFinished } from 'vitest'
import { GrpcClient, type GrpcOptions } from './grpc-client.ts'
import type { StreamAnswer } from './infer-stream.ts'

const OK = { 'grpc-status': '0' }
const CALL = { inputs: [{ name: 'I', datatype: 'FP32', shape: [1], values: [1] }] } as const
const RESPONSE = { model: 'm', version: '1', id: '', parameters: {}, outputs: [] }

function frame(message: Uint8Array, compressed = 0): Buffer {
  const head = Buffer.alloc(5)
  head[0] = compressed
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}
const whole = ({ parts }: EncodedMessage) => frame(Buffer.concat(parts))
const LIVE = frame(encodeMessage('ServerLiveResponse', { live: true }))
const ANSWER = whole(encodeInferMessage(RESPONSE))

interface Asked {
  readonly stream: ServerHttp2Stream
  readonly headers: Record<string, string>
  readonly count: number
}

/** Node's own HTTP/2 server, which answers each call as the test says. */
async function fake(answer: (asked: Asked) => void, options: GrpcOptions = {}) {
  const sessions: Http2Session[] = []
  const server = createServer({ settings: { maxConcurrentStreams: 4 } })
  let count = 0
  server.on('session', (session) => sessions.push(session))
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined)
    answer({ stream, headers: headers as Record<string, string>, count: (count += 1) })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = new GrpcClient(`127.0.0.1:${(server.address() as AddressInfo).port}`, options)
  onTestFinished(() => {
    client.close()
    for (const session of sessions) session.destroy()
    server.close()
  })
  return { client, sessions }
}

/** Answers with these bytes and this end. */
function reply(
  stream: ServerHttp2Stream,
  bytes: Uint8Array,
  trailers: Record<string, string> = OK,
  headers: Record<string, string> = {},
) {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...headers }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers(trailers))
  stream.end(bytes)
}

it('sends what gRPC asks for', async () => {
  const seen: Record<string, string>[] = []
  const { client } = await fake(
    ({ stream, headers }) => {
      seen.push(headers)
      reply(stream, LIVE)
    },
    { headers: { Authorization: 'Bearer t' } },
  )
  expect(await client.isLive({ timeoutMs: 1_500, headers: { 'x-key': 'v' } })).toBe(true)
  expect(seen[0]).toMatchObject({
    ':path': '/inference.GRPCInferenceService/ServerLive',
    'content-type': 'application/grpc',
    te: 'trailers',
    'grpc-timeout': '1500000u',
    authorization: 'Bearer t',
    'x-key': 'v',
  })
  await expect(client.isLive({ headers: { 'x-key': 'ä' } })).rejects.toMatchObject({ code: 'INVALID_ARG', status: 0 })
})

it('waits when the server takes no more calls at once', async () => {
  let open = 0
  let most = 0
  const { client } = await fake(({ stream }) => {
    most = Math.max(most, (open += 1))
    stream.on('close', () => (open -= 1))
    setImmediate(() => reply(stream, LIVE))
  })
  await client.isLive()
  expect(await Promise.all(Array.from({ length: 20 }, () => client.isLive()))).toHaveLength(20)
  expect(most).toBeLessThanOrEqual(4)
})

it.each<[string, (asked: Asked) => void, object]>([
  [
    'a status',
    ({ stream }) => reply(stream, Buffer.alloc(0), { 'grpc-status': '5', 'grpc-message': 'no%20%C3%A4' }),
    { code: 'NOT_FOUND', status: 5, message: 'no ä' },
  ],
  [
    'a status of another kind',
    ({ stream }) => reply(stream, Buffer.alloc(0), { 'grpc-status': '99' }),
    { code: 'UNKNOWN', status: 99 },
  ],
  ['no status', ({ stream }) => reply(stream, ANSWER, {}), { code: 'UNKNOWN', status: 0 }],
  [
    'no message',
    ({ stream }) => reply(stream, Buffer.alloc(0)),
    { code: 'INTERNAL', message: 'the server answered without a message' },
  ],
  [
    'half a message',
    ({ stream }) => reply(stream, ANSWER.subarray(0, 6)),
    { code: 'INTERNAL', message: 'the answer ends inside a message' },
  ],
  ['no such message', ({ stream }) => reply(stream, frame(Buffer.from([0x0a, 0xff]))), { code: 'INTERNAL' }],
  ['a flag that is none', ({ stream }) => reply(stream, Buffer.from([7, 0, 0, 0, 0])), { code: 'INTERNAL' }],
  [
    'a message that is too large',
    ({ stream }) => reply(stream, Buffer.from([0, 0x7f, 0xff, 0xff, 0xff])),
    { code: 'RESOURCE_EXHAUSTED' },
  ],
  [
    'a bomb',
    ({ stream }) => reply(stream, frame(gzipSync(Buffer.alloc(1e6)), 1), OK, { 'grpc-encoding': 'gzip' }),
    { code: 'RESOURCE_EXHAUSTED' },
  ],
  [
    'what is not compressed',
    ({ stream }) => reply(stream, frame(Buffer.from('x'), 1), OK, { 'grpc-encoding': 'gzip' }),
    { code: 'INTERNAL' },
  ],
  [
    'an unknown compression',
    ({ stream }) => reply(stream, frame(Buffer.from('x'), 1), OK, { 'grpc-encoding': 'br' }),
    { code: 'INTERNAL' },
  ],
  [
    'a proxy’s page',
    ({ stream }) => (stream.respond({ ':status': 503, 'content-type': 'text/html' }), stream.end('<html>')),
    { code: 'UNAVAILABLE' },
  ],
  [
    'a reset',
    ({ stream }) => stream.close(7),
    { code: 'UNAVAILABLE', message: 'the server ended the call with HTTP/2 error 7' },
  ],
  ['the end of the connection', ({ stream }) => stream.session?.destroy(), { code: 'UNAVAILABLE' }],
])('%s is an error', async (_, answer, expected) => {
  const { client } = await fake((asked) => (asked.count === 1 ? answer(asked) : reply(asked.stream, LIVE)), {
    maxMessageBytes: 10_000,
  })
  await expect(client.infer('m', CALL)).rejects.toMatchObject({ name: 'ClientError', ...expected })
  // The client is as good as before.
  expect(await client.isLive()).toBe(true)
})

it('expands compressed answers', async () => {
  const { client } = await fake(({ stream }) =>
    reply(stream, frame(gzipSync(ANSWER.subarray(5)), 1), OK, { 'grpc-encoding': 'gzip' }),
  )
  expect((await client.infer('m', CALL)).model).toBe('m')
})

it('the server learns that a call was given up', async () => {
  const controller = new AbortController()
  const closed = Promise.withResolvers<number | undefined>()
  const { client } = await fake(({ stream }) => {
    stream.on('close', () => closed.resolve(stream.rstCode))
    controller.abort()
  })
  await expect(client.infer('m', CALL, { signal: controller.signal })).rejects.toMatchObject({ code: 'CANCELLED' })
  expect(await closed.promise).toBe(8)
})

it('a server that goes away in peace is left in peace', async () => {
  const { client, sessions } = await fake(({ stream, count }) => {
    if (count === 1) stream.session?.goaway(0)
    setImmediate(() => reply(stream, LIVE))
  })
  expect(await client.isLive()).toBe(true)
  expect(await client.isLive()).toBe(true)
  expect(sessions).toHaveLength(2)
})

it('a stream gives its answers one by one, and makes the server wait for its reader', async () => {
  const one = whole(
    encodeStreamMessage({
      error: '',
      response: {
        ...RESPONSE,
        outputs: [{ name: 'O', datatype: 'UINT8', shape: [60_000], data: new Uint8Array(60_000) }],
      },
      final: false,
    }),
  )
  let sent = 0
  const { client } = await fake(({ stream }) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
    const more = () => {
      while (sent < 1_000) {
        sent += 1
        if (!stream.write(one)) return void stream.once('drain', more)
      }
      stream.end()
    }
    more()
  })
  const stream = client.openStream()
  await stream.send('m', CALL)
  const answers = stream[Symbol.asyncIterator]()
  for (let i = 0; i < 5; i += 1) {
    const { value } = (await answers.next()) as IteratorYieldResult<StreamAnswer>
    expect(value.result?.output('O').data).toHaveLength(60_000)
  }
  // Long enough for all of it; 60 MB would come. The window and what is held are a fraction of it.
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(sent).toBeLessThan(500)
  await answers.return()
  await expect(stream.send('m', CALL)).rejects.toMatchObject({ code: 'CANCELLED' })
})

it('asks a silent server whether it is there, and gives up on it', async () => {
  const sockets: Socket[] = []
  const server = createRaw((socket) => sockets.push(socket.on('error', () => undefined).resume())).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  const client = new GrpcClient(`127.0.0.1:${(server.address() as AddressInfo).port}`, {
    keepAlive: { timeMs: 40, timeoutMs: 40 },
  })
  onTestFinished(() => {
    client.close()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await expect(client.isLive()).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('pings') as string,
  })
})

it.each([
  ['HTTP/1.1 400 Bad Request\r\n\r\n'],
  ['\x00\x40\x00\x00\x00\x00\x00\x00\x01'],
  ['\x00\x00\x01\x01\x04\x00\x00\x00\x01\xff'],
  ['\x00\x00\x04\x08\x00\x00\x00\x00\x00'],
])('what is no HTTP/2 ends the call: %j', async (bytes) => {
  const server = createRaw((socket) => void socket.on('error', () => undefined).end(bytes, 'latin1')).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const client = new GrpcClient(`127.0.0.1:${(server.address() as AddressInfo).port}`)
  await expect(client.isLive()).rejects.toMatchObject({ name: 'ClientError', code: 'UNAVAILABLE' })
  client.close()
})

it('a server that is not there is UNAVAILABLE, a closed client CANCELLED', async () => {
  const client = new GrpcClient('127.0.0.1:1')
  await expect(client.isLive()).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('ECONNREFUSED') as string,
  })
  client.close()
  await expect(client.isLive()).rejects.toMatchObject({ code: 'CANCELLED' })
})
