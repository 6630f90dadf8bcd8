import { createServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { openHttp, type NodeHttpOptions } from '../open-http.ts'

type Answerer = (socket: Socket, count: number, request: string) => void

/** A server that answers each request (whole once its head has come) as the test says. `count` is that of all requests. */
async function fake(answer: Answerer, options: NodeHttpOptions = {}) {
  let count = 0
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      const text = chunk.toString('latin1')
      if (/^(GET|POST) /.test(text)) answer(socket, (count += 1), text)
    })
  })
  const listen = options.socketPath === undefined ? { port: 0, host: '127.0.0.1' } : { path: options.socketPath }
  server.listen(listen)
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const port = options.socketPath === undefined ? (server.address() as AddressInfo).port : 80
  const client = openHttp(`http://127.0.0.1:${port}/base`, options)
  onTestFinished(() => client.close())
  return { client, sockets, requests: () => count }
}

const reply = (body: string, more = '') =>
  `HTTP/1.1 200 OK\r\n${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
const META = reply('{"name":"x","version":"1","extensions":[]}')
const CALL = { inputs: [{ name: 'I', datatype: 'FP32', shape: [1], values: [1] }] } as const

it('sends the base path, the headers and one head per request', async () => {
  const seen: string[] = []
  const { client } = await fake((socket, _, request) => {
    seen.push(request)
    socket.write(META)
  })
  await client.serverMetadata({ headers: { 'x-key': 'v' } })
  expect(seen[0]).toMatch(/^GET \/base\/v2 HTTP\/1\.1\r\nHost: 127\.0\.0\.1:\d+\r\nx-key: v\r\n\r\n$/)
  await expect(client.serverMetadata({ headers: { 'x-key': 'v\r\nEvil: 1' } })).rejects.toMatchObject({
    name: 'ClientError',
  })
  expect(await client.serverMetadata()).toMatchObject({ name: 'x' })
})

it('uses one connection for calls that follow each other, several for those that do not, and no more than allowed', async () => {
  const { client, sockets } = await fake((socket) => void setImmediate(() => socket.write(META)), { maxConnections: 3 })
  for (let i = 0; i < 4; i += 1) await client.serverMetadata()
  expect(sockets).toHaveLength(1)
  await Promise.all(Array.from({ length: 10 }, () => client.serverMetadata()))
  expect(sockets).toHaveLength(3)
})

it('a caller that waits for a connection may give up', async () => {
  const { client, sockets } = await fake(() => undefined, { maxConnections: 1 })
  const first = client.isLive({ timeoutMs: 200 })
  const second = client.isLive({ timeoutMs: 20 })
  await expect(second).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' })
  await expect(first).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' })
  expect(sockets).toHaveLength(1)
})

it('asks again when a kept connection was closed meanwhile, but never infers twice', async () => {
  const { client, sockets, requests } = await fake((socket, count) => {
    if (count % 2 === 1) socket.write(META)
    else socket.destroy()
  })
  await client.serverMetadata()
  expect(await client.serverMetadata()).toMatchObject({ name: 'x' })
  expect([sockets.length, requests()]).toEqual([2, 3])
  await expect(client.infer('m', CALL)).rejects.toMatchObject({ code: 'UNAVAILABLE', status: 0 })
  expect(requests()).toBe(4)
})

it.each([
  ['is cut off in its head', 'HTTP/1.1 200 OK\r\nConte', 'UNAVAILABLE'],
  ['is cut off in its body', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"mod', 'UNAVAILABLE'],
  ['is cut off in a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{"mod', 'UNAVAILABLE'],
  ['never comes', '', 'UNAVAILABLE'],
  ['is no HTTP', '\x00\x00\x12\x04\x00\x00\r\n\r\n', 'INTERNAL'],
  ['is no JSON', reply('hello'), 'INTERNAL'],
  ['is other JSON', reply('{"outputs":3,"model_name":"m"}'), 'INTERNAL'],
  [
    'announces more than it has',
    reply('{"model_name":"m","outputs":[]}', 'Inference-Header-Content-Length: 99\r\n'),
    'INTERNAL',
  ],
  [
    'has a header length that is none',
    reply('{"model_name":"m","outputs":[]}', 'Inference-Header-Content-Length: x\r\n'),
    'INTERNAL',
  ],
  ['is compressed and is not', reply('{}', 'Content-Encoding: gzip\r\n'), 'INTERNAL'],
  ['is compressed in an unknown way', reply('{}', 'Content-Encoding: br\r\n'), 'INTERNAL'],
  ['is an error without a text', 'HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n', 'UNAVAILABLE'],
])('an answer that %s is a %s error', async (_, text, code) => {
  const { client } = await fake((socket) => socket.end(text, 'latin1'))
  await expect(client.infer('m', CALL)).rejects.toMatchObject({ name: 'ClientError', code })
})

it('bounds what it takes, expanded or not', async () => {
  const bomb = gzipSync(Buffer.alloc(1_000_000))
  const { client } = await fake(
    (socket, count) => {
      if (count > 1) socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`)
      socket.write(count > 1 ? bomb : reply('x'.repeat(20_000)))
    },
    { maxAnswerBytes: 10_000 },
  )
  await expect(client.serverMetadata()).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' })
  await expect(client.serverMetadata()).rejects.toMatchObject({ code: 'RESOURCE_EXHAUSTED' })
})

it('an aborted call closes its connection, so that the server learns of it', async () => {
  const { client, sockets } = await fake(() => controller.abort())
  const controller = new AbortController()
  await expect(client.infer('m', CALL, { signal: controller.signal })).rejects.toMatchObject({ code: 'CANCELLED' })
  await once(sockets[0] as Socket, 'close')
})

it('leaving a stream of events closes its connection', async () => {
  const { client, sockets } = await fake((socket) => {
    socket.write(
      'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: {}\n\r\n',
    )
  })
  for await (const event of client.generateStream('m', {})) {
    expect(event).toEqual({})
    break
  }
  await once(sockets[0] as Socket, 'close')
})

it('a stream of events that is cut off is an error', async () => {
  const { client } = await fake((socket) => {
    socket.end(
      'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: {}\n\r\n',
    )
  })
  const stream = client.generateStream('m', {})
  expect((await stream.next()).value).toEqual({})
  await expect(stream.next()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
})

it('a server that is not there is UNAVAILABLE, a closed client CANCELLED', async () => {
  const { client } = await fake(() => undefined)
  const pending = client.isLive()
  client.close()
  await expect(pending).rejects.toMatchObject({ code: 'CANCELLED' })
  await expect(client.isLive()).rejects.toMatchObject({ code: 'CANCELLED' })
  const nobody = openHttp('http://127.0.0.1:1')
  await expect(nobody.isLive()).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('ECONNREFUSED') as string,
  })
})

it('reaches a server over a unix socket', async () => {
  const socketPath = path.join(mkdtempSync(path.join(tmpdir(), 'conch-sock-')), 's')
  const { client } = await fake((socket) => socket.write(META), { socketPath })
  expect(await client.serverMetadata()).toMatchObject({ name: 'x' })
})
