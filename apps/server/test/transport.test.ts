import { existsSync, linkSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request as requestPlain } from 'node:http'
import { connect as connectH2 } from 'node:http2'
import { request as requestTls } from 'node:https'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { parseServeOptions } from '../src/options.ts'
import { HAS_OPENSSL, makeCertificates } from './make-certificates.ts'
import { openFace } from './open-face.ts'
import { call, frame, openGrpc } from './open-grpc.ts'
import { RawClient } from './raw-client.ts'

const LIVE = '/v2/health/live'
const EMPTY = frame(new Uint8Array(0))
const JSON_BODY = JSON.stringify({ inputs: [{ name: 'IN', datatype: 'FP32', shape: [1], data: [1] }] })

function makeDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'conch-socket-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** Status of a GET or of a POST with a body; the code of the error when there is no answer. */
function ask(make: typeof requestPlain, options: object, body = ''): Promise<number | string> {
  return new Promise((resolve) => {
    const sent = make({ method: body === '' ? 'GET' : 'POST', path: LIVE, agent: false, ...options }, (res) => {
      res.resume()
      res.on('end', () => resolve(res.statusCode ?? 0))
    })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    sent.end(body)
  })
}

it.skipIf(!HAS_OPENSSL)('serves HTTP over TLS', async () => {
  const { root, server } = makeCertificates()
  const flags = ['--http-use-ssl=true', `--http-server-cert=${server.cert}`, `--http-server-key=${server.key}`]
  const { face } = await openFace({}, ...flags)
  const [host, port] = face.address.split(':')
  const to = { host, port, ca: readFileSync(root) }
  expect(await ask(requestTls, to)).toBe(200)
  expect(await ask(requestTls, { ...to, path: '/v2/models/echo/infer' }, JSON_BODY)).toBe(200)
  // Who does not speak TLS is sent away, and nobody else suffers.
  const plain = new RawClient(face.address).send(`GET ${LIVE} HTTP/1.1\r\nHost: t\r\n\r\n`)
  await plain.closed()
  expect(await ask(requestTls, { ...to, ca: undefined })).toMatch(/CERT|SELF_SIGNED|UNABLE/)
  expect(await ask(requestTls, to)).toBe(200)
})

it.skipIf(!HAS_OPENSSL)('asks HTTP clients for a certificate of the root', async () => {
  const { root, server, client } = makeCertificates()
  const flags = [
    '--http-use-ssl-mutual=true',
    `--http-server-cert=${server.cert}`,
    `--http-server-key=${server.key}`,
    `--http-root-cert=${root}`,
  ]
  const { face } = await openFace({}, ...flags)
  const [host, port] = face.address.split(':')
  const to = { host, port, ca: readFileSync(root) }
  expect(await ask(requestTls, to)).not.toBe(200)
  expect(await ask(requestTls, { ...to, cert: readFileSync(client.cert), key: readFileSync(client.key) })).toBe(200)
})

it.skipIf(!HAS_OPENSSL)('serves gRPC over TLS, mutual as well', async () => {
  const { root, server, client } = makeCertificates()
  const flags = [
    '--grpc-use-ssl-mutual=true',
    `--grpc-server-cert=${server.cert}`,
    `--grpc-server-key=${server.key}`,
    `--grpc-root-cert=${root}`,
  ]
  const { port } = await openGrpc({}, ...flags)
  const ca = readFileSync(root)
  const known = connectH2(`https://127.0.0.1:${port}`, {
    ca,
    cert: readFileSync(client.cert),
    key: readFileSync(client.key),
  })
  onTestFinished(() => known.destroy())
  expect(await call(known, 'ServerLive', EMPTY)).toMatchObject({ status: '0' })
  const stranger = connectH2(`https://127.0.0.1:${port}`, { ca })
  onTestFinished(() => stranger.destroy())
  stranger.on('error', () => undefined)
  expect((await call(stranger, 'ServerLive', EMPTY)).status).toBeUndefined()
})

it.each([
  [['--http-use-ssl=true'], 'TLS for http needs --http-server-cert and --http-server-key'],
  [['--grpc-use-ssl=true', '--grpc-server-key=k'], 'TLS for grpc needs --grpc-server-cert'],
  [
    ['--grpc-use-ssl-mutual=true', '--grpc-server-key=k', '--grpc-server-cert=c'],
    'TLS for grpc needs --grpc-root-cert',
  ],
  // As the original: naming the flag is enough.
  [['--grpc-use-ssl-mutual=false'], 'TLS for grpc needs --grpc-server-cert and --grpc-server-key'],
])('refuses %s', (flags, text) => {
  expect(() => parseServeOptions(flags, {})).toThrow(text)
})

it('names the flag of a file that cannot be read', async () => {
  const flags = ['--http-use-ssl=true', '--http-server-cert=/nowhere/c.pem', '--http-server-key=/nowhere/k.pem']
  await expect(openFace({}, ...flags)).rejects.toThrow('--http-server-cert=/nowhere/c.pem cannot be read (ENOENT)')
})

it('serves HTTP on a unix socket, for its owner and group', async () => {
  const socketPath = path.join(makeDirectory(), 'http.sock')
  const { face } = await openFace({}, `--http-address=unix:${socketPath}`)
  expect(face.address).toBe(`unix:${socketPath}`)
  expect(statSync(socketPath).mode & 0o777).toBe(0o660)
  expect(await ask(requestPlain, { socketPath })).toBe(200)
  expect(await ask(requestPlain, { socketPath, path: '/v2/models/echo/infer' }, JSON_BODY)).toBe(200)
  face.drain()
  await face.stop()
  await expect.poll(() => existsSync(socketPath)).toBe(false)
})

it('serves gRPC on a unix socket', async () => {
  const socketPath = path.join(makeDirectory(), 'grpc.sock')
  await openGrpc({}, `--grpc-address=unix://${socketPath}`)
  const session = connectH2('http://localhost', { createConnection: () => connect(socketPath) })
  onTestFinished(() => session.destroy())
  expect(await call(session, 'ServerLive', EMPTY)).toMatchObject({ status: '0' })
})

it('takes the place of a socket that nobody serves, and of nothing else', async () => {
  const directory = makeDirectory()
  const stale = path.join(directory, 'stale.sock')
  // A server that dies leaves its socket behind: nothing listens, the name stays.
  const dead = createServer()
  await new Promise<void>((resolve) => dead.listen(stale, resolve))
  const kept = `${stale}.kept`
  linkSync(stale, kept)
  await new Promise((resolve) => dead.close(resolve))
  renameSync(kept, stale)
  expect(existsSync(stale)).toBe(true)
  await openFace({}, `--http-address=unix:${stale}`)
  expect(await ask(requestPlain, { socketPath: stale })).toBe(200)
  await expect(openFace({}, `--http-address=unix:${stale}`)).rejects.toThrow(/is in use/)
  expect(await ask(requestPlain, { socketPath: stale })).toBe(200)
  const file = path.join(directory, 'file')
  writeFileSync(file, 'mine')
  await expect(openFace({}, `--http-address=unix:${file}`)).rejects.toThrow('is no socket')
  expect(readFileSync(file, 'utf8')).toBe('mine')
  const long = `unix:${path.join(directory, 'x'.repeat(120))}`
  await expect(openFace({}, `--http-address=${long}`)).rejects.toThrow('has 1 to 107 bytes')
})

it('keeps the ports beside a unix socket on this machine', () => {
  const options = parseServeOptions(['--http-address=unix:/tmp/x.sock'], {})
  expect([options.metrics.address, options.sagemaker.address]).toEqual(['127.0.0.1', '127.0.0.1'])
  const both = ['--http-address=unix:/tmp/x.sock', '--grpc-address=unix:/tmp/x.sock']
  expect(() => parseServeOptions(both, {})).toThrow('HTTP requests and GRPC requests at the same address')
})
