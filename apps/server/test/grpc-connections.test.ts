import { setTimeout as wait } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { encodeInferRequest } from '@conch/protocol'
import type { InferRequest, InferResponse } from '@conch/protocol'
import { expect, it, vi } from 'vitest'
import { parseServeOptions } from '../src/options.ts'
import { begin, call, frame, openGrpc } from './open-grpc.ts'

const EMPTY = frame(new Uint8Array(0))
const inferRequest = (bytes: number): Buffer =>
  Buffer.concat(
    encodeInferRequest({
      model: 'echo',
      version: '',
      id: '',
      sequenceId: 0n,
      sequenceStart: false,
      sequenceEnd: false,
      priority: 0,
      timeout: 0,
      parameters: {},
      inputs: [{ name: 'IN', datatype: 'UINT8', shape: [bytes], data: new Uint8Array(bytes) }],
      outputs: [],
      binaryOutputs: true,
    }).parts,
  )
const answerOf = (request: InferRequest): InferResponse => ({
  model: 'echo',
  version: '1',
  id: request.id,
  parameters: {},
  outputs: [],
})

it('sends a client on to a new connection once its own is old, and answers what runs on it', async () => {
  let finish = () => undefined as void
  const infer = (request: InferRequest) =>
    new Promise<InferResponse>((resolve) => (finish = () => resolve(answerOf(request))))
  const { session, open } = await openGrpc({ infer }, '--grpc-max-connection-age=300')
  const told = new Promise<number>((resolve) => session.on('goaway', resolve))
  const running = call(session, 'ModelInfer', frame(inferRequest(8)))
  expect(await told).toBe(0)
  finish()
  expect(await running).toMatchObject({ status: '0' })
  expect(await call(open(), 'ServerLive', EMPTY)).toMatchObject({ status: '0' })
})

it('ends an old connection for good when its grace is over', async () => {
  const infer = () => new Promise<never>(() => undefined)
  const flags = ['--grpc-max-connection-age=100', '--grpc-max-connection-age-grace=100']
  const { session } = await openGrpc({ infer }, ...flags)
  const { ended } = begin(session, 'ModelInfer')
  expect((await ended).status).toBeUndefined()
})

it('ends a connection that pings too often, unless pings without calls are permitted', async () => {
  const ping = (session: Awaited<ReturnType<typeof openGrpc>>['session']) =>
    new Promise<boolean>((resolve) => {
      if (!session.ping((error) => resolve(error === null))) resolve(false)
    })
  const strict = await openGrpc({}, '--grpc-http2-max-ping-strikes=1')
  await call(strict.session, 'ServerLive', EMPTY)
  const told = new Promise<number>((resolve) => strict.session.on('goaway', resolve))
  for (let i = 0; i < 4; i += 1) void ping(strict.session)
  expect(await told).toBe(11)
  const flags = ['--grpc-keepalive-permit-without-calls=true', '--grpc-http2-min-recv-ping-interval-without-data=20']
  const permitted = await openGrpc({}, '--grpc-http2-max-ping-strikes=1', ...flags)
  await call(permitted.session, 'ServerLive', EMPTY)
  for (let i = 0; i < 4; i += 1) {
    await wait(40)
    expect(await ping(permitted.session)).toBe(true)
  }
})

it('pings a quiet client that has a call open', async () => {
  const infer = () => new Promise<never>(() => undefined)
  const { session } = await openGrpc({ infer }, '--grpc-keepalive-time=50', '--grpc-keepalive-timeout=10000')
  const asked = new Promise<Buffer>((resolve) => session.on('ping', resolve))
  begin(session, 'ModelInfer').stream.end(frame(inferRequest(8)))
  expect(await asked).toHaveLength(8)
})

it('bounds what the messages of all calls take together, and serves again when they are answered', async () => {
  const waiting: (() => void)[] = []
  const infer = (request: InferRequest) =>
    new Promise<InferResponse>((resolve) => waiting.push(() => resolve(answerOf(request))))
  const { session, open } = await openGrpc({ infer }, '--http-body-memory=100000')
  const large = frame(inferRequest(60_000))
  const first = call(session, 'ModelInfer', large)
  await vi.waitFor(() => expect(waiting).toHaveLength(1))
  const refused = await call(open(), 'ModelInfer', large)
  expect(refused).toMatchObject({ status: '14' })
  expect(refused.message).toMatch(/may take 100000 bytes together .*--http-body-memory/)
  // A small one has room; one that becomes large by decompression has none.
  const bomb = frame(gzipSync(inferRequest(90_000)), 1)
  expect(await call(session, 'ModelInfer', bomb, { 'grpc-encoding': 'gzip' })).toMatchObject({ status: '14' })
  waiting[0]?.()
  expect(await first).toMatchObject({ status: '0' })
  const again = call(session, 'ModelInfer', large)
  await vi.waitFor(() => expect(waiting).toHaveLength(2))
  waiting[1]?.()
  expect(await again).toMatchObject({ status: '0' })
})

it('frees the memory of messages that are announced, sent by half and left', async () => {
  const { session, open } = await openGrpc({}, '--http-body-memory=100000')
  const half = begin(session, 'ModelInfer')
  half.stream.write(frame(inferRequest(90_000)).subarray(0, 60_000))
  const other = async () => (await call(open(), 'ModelInfer', frame(inferRequest(60_000)))).status
  await vi.waitFor(async () => expect(await other()).toBe('14'))
  half.stream.close(8)
  await vi.waitFor(async () => expect(await other()).toBe('0'))
})

it('frees the memory of the messages of a stream as they are answered', async () => {
  const { session } = await openGrpc(
    { infer: (request) => Promise.resolve(answerOf(request)) },
    '--http-body-memory=100000',
  )
  const { stream, ended } = begin(session, 'ModelStreamInfer')
  stream.resume()
  for (let i = 0; i < 20; i += 1) {
    stream.write(frame(inferRequest(30_000)))
    await wait(5)
  }
  stream.end()
  expect(await ended).toMatchObject({ status: '0' })
})

it('ends the calls of clients that do not take their answers, before all of them take the memory', async () => {
  const data = new Uint8Array(2 ** 20)
  const infer = (request: InferRequest): Promise<InferResponse> =>
    Promise.resolve({
      ...answerOf(request),
      outputs: [{ name: 'OUT', datatype: 'UINT8', shape: [data.length], data }],
    })
  const { session, open } = await openGrpc({ infer }, '--http-body-memory=4000000')
  const greedy = Array.from({ length: 10 }, () => {
    const one = begin(session, 'ModelInfer')
    // It reads the head alone: the window of its stream is full, and stays so.
    one.stream.pause()
    one.stream.end(frame(inferRequest(8)))
    return one
  })
  await vi.waitFor(() => expect(greedy.filter(({ stream }) => stream.rstCode === 11).length).toBeGreaterThan(2))
  expect(await call(open(), 'ServerLive', EMPTY)).toMatchObject({ status: '0' })
  session.destroy()
  await vi.waitFor(async () =>
    expect(await call(open(), 'ModelInfer', frame(inferRequest(8)))).toMatchObject({ status: '0' }),
  )
})

it('tells what of its options changes nothing', () => {
  const given = [
    '--grpc-infer-allocation-pool-size=16',
    '--grpc-infer-thread-count=4',
    '--grpc-max-response-pool-size=8',
  ]
  const { notices } = parseServeOptions(given, {})
  expect(notices).toHaveLength(3)
  expect(notices[2]).toMatch(/^--grpc-max-response-pool-size=8 has no effect: .* 64 MiB/)
  expect(() => parseServeOptions(['--grpc-max-response-pool-size=0'], {})).toThrow('must be greater than 0')
})
