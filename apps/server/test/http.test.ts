import { gunzipSync, gzipSync, inflateSync } from 'node:zlib'
import { ConchError } from '@conch/protocol'
import type { Engine } from '@conch/engine'
import type { InferRequest, ModelConfig } from '@conch/protocol'
import { expect, it, vi } from 'vitest'
import { get, openFace, post } from './open-face.ts'

const REQUEST = JSON.stringify({ inputs: [{ name: 'IN', datatype: 'FP32', shape: [2], data: [1, 2.5] }] })
const ANSWER =
  '{"model_name":"echo","model_version":"1","outputs":[{"name":"OUT","datatype":"FP32","shape":[2],"data":[1.0,2.5]}]}'
const MANY = Array.from({ length: 200 }, (_, i) => ({
  name: `model-${i}`,
  version: '1',
  state: 'UNAVAILABLE' as const,
  reason: 'unloaded',
}))
const INFER = '/v2/models/echo/infer'

it('answers as recorded, byte for byte', async () => {
  const { open } = await openFace()
  const client = open()
  client.send(
    get('/v2/health/live'),
    get('/nope'),
    get('/v2'),
    post(INFER, REQUEST),
    get('/v2/health/live', 'Connection: close'),
  )
  expect(await client.reply()).toEqual({
    status: 200,
    head: 'Content-Length: 0\r\nContent-Type: text/plain',
    body: Buffer.alloc(0),
  })
  expect(await client.reply()).toEqual({
    status: 404,
    head: 'Content-Length: 21\r\nContent-Type: text/plain',
    body: Buffer.from('{"error":"Not Found"}'),
  })
  expect((await client.reply())?.body.toString()).toContain('"extensions":["classification","sequence"')
  expect(await client.reply()).toEqual({
    status: 200,
    head: `Content-Type: application/json\r\nContent-Length: ${ANSWER.length}`,
    body: Buffer.from(ANSWER),
  })
  expect((await client.reply())?.head).toBe('Connection: close\r\nContent-Length: 0\r\nContent-Type: text/plain')
  await client.closed()
})

it.each([
  ['GET', '/v2/', 404],
  ['GET', '//v2/health/live', 404],
  ['GET', '/v2/Health/live', 404],
  ['GET', '/v2/models/echo/', 404],
  ['GET', '/v2/models//ready', 404],
  ['GET', '/v2/models/echo/versions/abc', 404],
  ['GET', '/v2/models/echo/versions/1/trace/setting', 404],
  ['GET', '/v2/models/%65cho', 404],
  ['GET', '/v2/models/echo?x=1', 200],
  ['GET', '/v2/models/echo/versions/1', 200],
  ['GET', '/v2/models/stats', 200],
  ['GET', '/v2/models/echo/versions/1/ready', 200],
  ['GET', '/v2/models/echo/versions/01', 200],
  ['GET', '/v2/models/echo/versions/99999999999999999999', 400],
  ['GET', '/v2/models/echo/versions/9223372036854775808/config', 400],
  ['GET', '/v2/models/echo/versions/99999999999999999999/stats', 400],
  ['GET', '/v2/models/nope/ready', 400],
  ['GET', '/v2/models/nope', 404],
  ['GET', '/v2/systemsharedmemory/status', 200],
  ['GET', '/v2/cudasharedmemory/region/r/status', 404],
  ['POST', '/v2/systemsharedmemory/region/r/register', 501],
  ['POST', '/v2/cudasharedmemory/unregister', 501],
  ['POST', '/v2/repository/index', 200],
  ['POST', '/v2/repository/any/index', 200],
  ['POST', '/v2/repository/models/echo/load', 200],
  ['POST', '/v2/repository/any/models/echo/load', 501],
  ['POST', '/v2/health/live', 405],
  ['OPTIONS', '/v2', 405],
  ['DELETE', '/v2/models/echo', 405],
  ['GET', INFER, 405],
  ['GET', 'http://169.254.169.254/v2', 404],
  ['GET', '/v2/models/__proto__', 404],
])('%s %s is %d', async (method, path, status) => {
  const { open } = await openFace()
  expect(
    (await open().send(`${method} ${path} HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n`).reply())?.status,
  ).toBe(status)
})

it('keeps the order of pipelined requests, a slow one first', async () => {
  let finish = () => undefined as void
  const slow = new Promise<void>((resolve) => (finish = resolve))
  const { open } = await openFace({ index: () => slow.then(() => []) })
  const client = open().send(post('/v2/repository/index', ''), get('/v2/health/live'), get('/nope'))
  const first = client.reply()
  finish()
  expect([(await first)?.body.toString(), (await client.reply())?.status, (await client.reply())?.status]).toEqual([
    '[]',
    200,
    404,
  ])
})

it('reads no further while many requests of a connection are in flight, and answers them all in the end', async () => {
  let started = 0
  let finish = () => undefined as void
  const slow = new Promise<void>((resolve) => (finish = resolve))
  const { open } = await openFace({
    index: () => {
      started += 1
      return slow.then(() => [])
    },
  })
  const client = open()
  // More than one read of the socket takes, so that the pause can be seen.
  const filler = `X-Filler: ${'x'.repeat(4_000)}`
  const total = 2_000
  for (let i = 0; i < total; i += 1) client.send(post('/v2/repository/index', '', filler))
  await vi.waitFor(() => expect(started).toBeGreaterThanOrEqual(64))
  expect((await open().send(get('/v2/health/live')).reply())?.status).toBe(200)
  expect(started).toBeLessThan(200)
  finish()
  for (let i = 0; i < total; i += 1) expect((await client.reply())?.body.toString()).toBe('[]')
  expect(started).toBe(total)
}, 60_000)

it('reads no further while a client takes none of its answers', async () => {
  let started = 0
  const { open } = await openFace({
    index: () => {
      started += 1
      return Promise.resolve(MANY)
    },
  })
  const client = open()
  client.socket.pause()
  const total = 3_000
  for (let i = 0; i < total; i += 1) client.send(post('/v2/repository/index', ''))
  for (let before = -1; before !== started; await open().send(get('/v2/health/live')).reply()) before = started
  expect(started).toBeLessThan(total)
  client.socket.resume()
  for (let i = 0; i < total; i += 1) expect((await client.reply())?.body.length).toBeGreaterThan(10_000)
  expect(started).toBe(total)
}, 60_000)

it('waits for a body in pieces, chunked or not', async () => {
  const { open } = await openFace()
  const client = open()
  const request = post(INFER, REQUEST)
  for (let at = 0; at < request.length; at += 7) client.send(request.subarray(at, at + 7))
  expect((await client.reply())?.body.toString()).toBe(ANSWER)
  client.send(`POST ${INFER} HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n`)
  for (let at = 0; at < REQUEST.length; at += 10) {
    const piece = REQUEST.slice(at, at + 10)
    client.send(`${piece.length.toString(16)}\r\n${piece}\r\n`)
  }
  client.send('0\r\n\r\n')
  expect((await client.reply())?.body.toString()).toBe(ANSWER)
})

it('sends 100 Continue when it is asked to', async () => {
  const { open } = await openFace()
  const client = open().send(
    `POST ${INFER} HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: ${REQUEST.length}\r\n\r\n`,
  )
  expect((await client.reply())?.status).toBe(100)
  expect((await client.send(REQUEST).reply())?.body.toString()).toBe(ANSWER)
})

it('refuses a body that is announced too large before reading it, and closes', async () => {
  const { open } = await openFace({}, '--http-max-input-size=100')
  const client = open().send(`POST ${INFER} HTTP/1.1\r\nHost: t\r\nContent-Length: 5000000000\r\n\r\n`)
  const reply = await client.reply()
  expect([reply?.status, reply?.body.toString()]).toEqual([
    400,
    '{"error":"request JSON size of 5000000000 bytes exceeds the maximum allowed input size of 100 bytes. Use --http-max-input-size to increase the limit."}',
  ])
  await client.closed()
})

it('lets the client finish sending a body that was refused early, and goes on', async () => {
  const { open } = await openFace({}, '--http-max-input-size=100')
  const client = open().send(post(INFER, 'x'.repeat(500_000)), get('/v2/health/live'))
  expect((await client.reply())?.status).toBe(400)
  expect((await client.reply())?.status).toBe(200)
})

it('speaks HTTP/1.0', async () => {
  const { open } = await openFace()
  const client = open().send('GET /v2/health/live HTTP/1.0\r\n\r\n')
  expect((await client.reply())?.status).toBe(200)
  await client.closed()
  const kept = open().send('GET /v2/health/live HTTP/1.0\r\nConnection: keep-alive\r\n\r\n')
  expect((await kept.reply())?.head).toContain('Connection: keep-alive')
})

it('reads and writes compressed bodies', async () => {
  const { open } = await openFace()
  const client = open()
  client.send(post(INFER, gzipSync(REQUEST), 'Content-Encoding: gzip'))
  expect((await client.reply())?.body.toString()).toBe(ANSWER)
  client.send(post(INFER, REQUEST, 'Accept-Encoding: gzip;q=0.1, deflate;q=0.9'))
  const deflated = await client.reply()
  expect(deflated?.head).toContain('Content-Encoding: deflate')
  expect(inflateSync(deflated?.body ?? '').toString()).toBe(ANSWER)
  client.send(post(INFER, REQUEST, 'Accept-Encoding: gzip'))
  expect(gunzipSync((await client.reply())?.body ?? '').toString()).toBe(ANSWER)
  client.send(post(INFER, '{', 'Accept-Encoding: gzip'))
  expect((await client.reply())?.body.toString()).toContain('"error"')
})

it.each([
  ['br', REQUEST, 501, 'Unsupported compression type'],
  ['gzip', '', 400, 'nothing to be decompressed'],
  ['gzip', 'not gzip at all', 400, 'failed to decompress'],
  ['gzip', gzipSync(REQUEST).subarray(0, 30), 400, 'failed to decompress'],
  [
    'gzip',
    gzipSync(Buffer.alloc(300_000)),
    400,
    'Decompressed data size exceeds the maximum allowed value of 100000 bytes',
  ],
])('refuses Content-Encoding %s with a body that does not fit', async (encoding, body, status, text) => {
  const { open } = await openFace({}, '--http-max-input-size=100000')
  const reply = await open()
    .send(post(INFER, body, `Content-Encoding: ${encoding}`))
    .reply()
  expect(reply?.status).toBe(status)
  expect(reply?.body.toString()).toContain(text)
  expect(reply?.head.includes('Accept-Encoding: gzip, deflate')).toBe(status === 501)
})

it.each([
  ['abc', 'Unable to parse Inference-Header-Content-Length, got: abc'],
  ['-5', 'inference header size should be in range (0, 94), got: -5'],
  ['100000', 'inference header size should be in range (0, 94), got: 100000'],
  ['99999999999', 'value is out of range'],
  ['1e3', 'got: 1e3'],
])('refuses a header length of %s', async (length, text) => {
  const { open } = await openFace()
  const reply = await open()
    .send(post(INFER, REQUEST.padEnd(94), `Inference-Header-Content-Length: ${length}`))
    .reply()
  expect([reply?.status, reply?.head.includes('text/plain')]).toEqual([400, true])
  expect(reply?.body.toString()).toContain(text)
})

it("tells an unknown model before anything that is wrong with the body, and a model's failure as plain text", async () => {
  const { open } = await openFace({
    infer: (_request, context) => {
      if (context?.timings) context.timings.queued = 1
      return Promise.reject(new ConchError('UNAVAILABLE', 'the model is tired'))
    },
  })
  const client = open().send(
    post('/v2/models/nope/infer', '{'),
    post('/v2/models/nope/infer', REQUEST),
    post(INFER, '{'),
    post(INFER, REQUEST),
  )
  for (const unknown of [await client.reply(), await client.reply()]) {
    expect([unknown?.status, unknown?.head.includes('text/plain')]).toEqual([404, true])
  }
  const malformed = await client.reply()
  expect([malformed?.status, malformed?.head.includes('application/json')]).toEqual([500, true])
  const failed = await client.reply()
  expect([failed?.status, failed?.head.includes('text/plain'), failed?.body.toString()]).toEqual([
    503,
    true,
    '{"error":"the model is tired"}',
  ])
})

it.each([
  ['Request timeout expired', 'text/plain', 1],
  ['[request id: <id_unknown>] Exceeds maximum queue size', 'application/json', 0],
])('tells %s as %s', async (text, type, queued) => {
  const { open } = await openFace({
    infer: (_request, context) => {
      if (context?.timings) context.timings.queued = queued
      return Promise.reject(new ConchError('UNAVAILABLE', text))
    },
  })
  const reply = await open().send(post(INFER, REQUEST)).reply()
  expect([reply?.status, reply?.body.toString()]).toEqual([503, `{"error":"${text}"}`])
  expect(reply?.head).toContain(`Content-Type: ${type}`)
})

it('refuses a decoupled model, whatever the body', async () => {
  const { open } = await openFace({
    config: () => ({ input: [], model_transaction_policy: { decoupled: true } }) as unknown as ModelConfig,
  })
  const client = open().send(post(INFER, REQUEST), post(INFER, '{'), post(INFER, ''))
  for (const reply of [await client.reply(), await client.reply(), await client.reply()]) {
    expect(reply).toEqual({
      status: 501,
      head: 'Content-Length: 83\r\nContent-Type: text/plain',
      body: Buffer.from('{"error":"HTTP end point doesn\'t support models with decoupled transaction policy"}'),
    })
  }
})

it('shows nothing of an unexpected error', async () => {
  const { open, log } = await openFace(
    { infer: () => Promise.reject(new Error('ENOENT /srv/secret')) },
    '--log-error=true',
  )
  log.settings.log_error = false
  const reply = await open().send(post(INFER, REQUEST)).reply()
  expect(reply?.status).toBe(500)
  expect(reply?.body.toString()).not.toContain('secret')
})

it('cancels the request of a client that goes away', async () => {
  let aborted = (_: boolean) => undefined as void
  const seen = new Promise<boolean>((resolve) => (aborted = resolve))
  let started = () => undefined as void
  const running = new Promise<void>((resolve) => (started = resolve))
  const { open } = await openFace({
    infer: (_request, context) =>
      new Promise((_resolve, reject) => {
        context?.signal?.addEventListener('abort', () => {
          aborted(true)
          reject(new ConchError('CANCELLED', ''))
        })
        started()
      }),
  })
  const client = open().send(post(INFER, REQUEST))
  await running
  client.end()
  expect(await seen).toBe(true)
})

it('restricts groups of APIs by a header, whose name may come in any case', async () => {
  const { open } = await openFace({}, '--http-restricted-api=health,inference:Admin-Key=s3cret')
  const client = open()
  client.send(
    get('/v2/health/live'),
    get('/v2/health/live', 'admin-key: wrong'),
    get('/v2/health/live', 'ADMIN-KEY: s3cret'),
    get(INFER),
    get('/v2'),
  )
  const refused = await client.reply()
  expect([refused?.status, refused?.body.toString()]).toEqual([
    403,
    `{"error":"This API is restricted, expecting header 'Admin-Key'"}`,
  ])
  const statuses = []
  for (let i = 0; i < 4; i += 1) statuses.push((await client.reply())?.status)
  expect(statuses).toEqual([403, 200, 403, 200])
})

it('forwards matching headers as parameters', async () => {
  let seen: InferRequest | undefined
  const answer = { model: 'echo', version: '1', id: '', parameters: {}, outputs: [] }
  const { open } = await openFace(
    {
      infer: (request) => {
        seen = request
        return Promise.resolve(answer)
      },
    },
    '--http-header-forward-pattern=x-my.*',
  )
  const client = open().send(
    post(INFER, REQUEST, 'X-My-Thing: hello', 'Other: no'),
    post(INFER, REQUEST, 'triton_x-my: 1'),
  )
  await client.reply()
  expect({ ...seen?.parameters }).toEqual({ 'X-My-Thing': 'hello' })
  expect((await client.reply())?.body.toString()).toContain("Header 'triton_x-my' is reserved")
})

it('answers browsers only for the origins it was told', async () => {
  const { open } = await openFace({}, '--http-cors-origin=http://good.example')
  const client = open()
  client.send(
    `OPTIONS ${INFER} HTTP/1.1\r\nHost: t\r\nOrigin: http://good.example\r\nAccess-Control-Request-Headers: x\r\n\r\n`,
  )
  const preflight = await client.reply()
  expect(preflight?.status).toBe(204)
  expect(preflight?.head).toContain('Access-Control-Allow-Headers: x')
  client.send(post(INFER, REQUEST, 'Origin: http://good.example'), post(INFER, REQUEST, 'Origin: http://evil.example'))
  expect((await client.reply())?.head).toContain('Access-Control-Allow-Origin: http://good.example')
  expect((await client.reply())?.head).not.toContain('Access-Control')
})

it('answers malformed JSON with 400 when asked to', async () => {
  const { open } = await openFace({}, '--http-client-errors=400')
  const client = open().send(post(INFER, '{'), post(INFER, REQUEST, 'Content-Encoding: br'))
  expect([(await client.reply())?.status, (await client.reply())?.status]).toEqual([400, 415])
})

it('reads and writes large JSON off the engine thread, with the same result', async () => {
  const { open } = await openFace()
  const count = 300_000
  const data = Array.from({ length: count }, (_, i) => i + 0.5)
  const body = JSON.stringify({ inputs: [{ name: 'IN', datatype: 'FP32', shape: [count], data }] })
  const client = open().send(post(INFER, body))
  const reply = await client.reply()
  const answered = JSON.parse(reply?.body.toString() ?? '') as { outputs: { data: number[] }[] }
  expect(answered.outputs[0]?.data).toEqual(data)
  client.send(post(INFER, `${body.slice(0, -3)}x`))
  expect((await client.reply())?.status).toBe(500)
})

it('reads a large body for generate off the engine thread, with the same result', async () => {
  const { open } = await openFace()
  const client = open().send(
    post('/v2/models/echo/generate', `{"IN":[${'1,'.repeat(700_000)}1]}`),
    post('/v2/models/echo/generate', `{"IN":[${'1,'.repeat(700_000)}"x"]}`),
  )
  expect((await client.reply())?.body.length).toBeGreaterThan(2_800_000)
  const refused = await client.reply()
  expect([refused?.status, refused?.body.toString()]).toEqual([
    500,
    `{"error":"Unable to parse 'data': attempt to access JSON non-number as double"}`,
  ])
})

it('ends idle connections when it drains, and answers what runs', async () => {
  let finish = () => undefined as void
  const slow = new Promise<void>((resolve) => (finish = resolve))
  const { face, open } = await openFace({ index: () => slow.then(() => []) })
  const idle = open().send(get('/v2/health/live'))
  await idle.reply()
  const silent = open()
  const busy = open().send(post('/v2/repository/index', ''))
  await open().send(get('/v2/health/live')).reply()
  face.drain()
  await Promise.all([idle.closed(), silent.closed()])
  finish()
  expect((await busy.reply())?.head).toContain('Connection: close')
  await busy.closed()
})

it('generates: flat object in, flat object out, keys in order', async () => {
  const { open } = await openFace()
  const client = open().send(post('/v2/models/echo/generate', '{"IN":[1,2.5],"id":"g","temperature":0.5}'))
  const reply = await client.reply()
  expect(reply?.head).toBe('Content-Type: application/json\r\nTransfer-Encoding: chunked')
  expect(reply?.body.toString()).toBe(
    '42\r\n{"OUT":[1.0,2.5],"id":"g","model_name":"echo","model_version":"1"}\r\n0\r\n\r\n',
  )
  client.send(post('/v2/models/echo/generate_stream', '{"IN":1}'))
  const stream = await client.reply()
  expect(stream?.head).toContain('text/event-stream; charset=utf-8')
  expect(stream?.body.toString()).toContain('data: {"OUT":1.0,"model_name":"echo","model_version":"1"}\n\n')
})

it('tells an error between two responses and goes on', async () => {
  const answer = (value: number) => ({
    model: 'echo',
    version: '1',
    id: '',
    parameters: {},
    outputs: [
      { name: 'OUT', datatype: 'FP32' as const, shape: [1], data: new Uint8Array(Float32Array.of(value).buffer) },
    ],
  })
  const stream: Engine['stream'] = async (request, onResponse, context) => {
    const error = new ConchError('NOT_FOUND', 'no second one')
    const [first] = new Float32Array(request.inputs[0]?.data.slice().buffer ?? new ArrayBuffer(4))
    if (first === 1) onResponse(answer(1), false)
    context?.onError?.(error)
    if (first === 1) onResponse(answer(3), true)
    return Promise.resolve()
  }
  const { open } = await openFace({ stream })
  const ask = async (path: string, input: number) => {
    const reply = await open()
      .send(post(`/v2/models/echo/${path}`, `{"IN":${input}}`))
      .reply()
    return [reply?.status, reply?.body.toString().replace(/^[0-9a-f]+\r\n|\r\n[0-9a-f]+\r\n|\r\n/g, '')]
  }
  const event = (value: number) => `data: {"OUT":${value}.0,"model_name":"echo","model_version":"1"}\n\n`
  const failure = 'data: {"error":"no second one"}\n\n'
  expect(await ask('generate_stream', 1)).toEqual([200, `${event(1)}${failure}${event(3)}`])
  expect(await ask('generate_stream', 2)).toEqual([404, failure])
  expect(await ask('generate', 2)).toEqual([404, '{"error":"no second one"}'])
  expect(await ask('generate', 1)).toEqual([
    200,
    expect.stringContaining('generate expects model to produce exactly 1'),
  ])
})

it('changes log settings one by one', async () => {
  const { open, log } = await openFace()
  const client = open()
  client.send(post('/v2/logging', '{"log_warning":false,"log_format":"fancy"}'))
  expect((await client.reply())?.status).toBe(503)
  expect(log.settings.log_warning).toBe(false)
  client.send(post('/v2/logging', '{"log_verbose_level":-1}'), get('/v2/logging'))
  expect((await client.reply())?.body.toString()).toContain('non-unsigned-integer')
  expect((await client.reply())?.body.toString()).toContain('"log_format":"default"')
})

it('keeps trace settings per model over the global ones', async () => {
  const { open } = await openFace()
  const client = open()
  const rate = async (data: string | Buffer) =>
    (JSON.parse((await client.send(data).reply())?.body.toString() ?? '') as { trace_rate: string }).trace_rate
  expect(await rate(post('/v2/models/echo/trace/setting', '{"trace_rate":"7"}'))).toBe('7')
  expect(await rate(post('/v2/trace/setting', '{"trace_rate":"9"}'))).toBe('9')
  expect(await rate(get('/v2/models/echo/trace/setting'))).toBe('7')
  expect(await rate(post('/v2/models/echo/trace/setting', '{"trace_rate":null}'))).toBe('9')
  client.send(
    post('/v2/trace/setting', '{"trace_level":["TIMESTAMPS"]}'),
    post('/v2/trace/setting', '{"trace_count":"-2"}'),
  )
  expect((await client.reply())?.body.toString()).toContain('trace file name is not given')
  expect((await client.reply())?.body.toString()).toContain('got:-2')
})

it('keeps a connection whose answered request still sends a little', async () => {
  const { open } = await openFace()
  const client = open()
  client.send('GET /v2/health/live HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n')
  expect((await client.reply())?.status).toBe(200)
  client.send('1\r\na\r\n'.repeat(1000), '0\r\n\r\n', get('/v2/health/live'))
  expect((await client.reply())?.status).toBe(200)
})

it('inflates more bodies than may be inflated at once, one after the other', async () => {
  const { open } = await openFace()
  const bomb = gzipSync(Buffer.alloc(60_000_000, ' '))
  const clients = Array.from({ length: 9 }, () => open().send(post(INFER, bomb, 'Content-Encoding: gzip')))
  const gone = open().send(post(INFER, bomb, 'Content-Encoding: gzip'))
  gone.end()
  for (const client of clients) {
    expect((await client.reply())?.body.toString()).toContain('The document is empty.')
  }
  const good = open().send(post(INFER, gzipSync(REQUEST), 'Content-Encoding: gzip'))
  expect((await good.reply())?.body.toString()).toBe(ANSWER)
}, 60_000)

it('stops reading a body of 65537 one-byte chunks, and closes', async () => {
  const { open } = await openFace()
  const client = open().send(`POST ${INFER} HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n`)
  client.send('1\r\na\r\n'.repeat(65_537))
  const reply = await client.reply()
  expect([reply?.status, reply?.body.toString()]).toEqual([
    400,
    '{"error":"Chunked request body exceeds maximum of 65536 non-empty chunks. Send fewer or larger HTTP chunks."}',
  ])
  await client.closed()
})

it.each([
  ['two lengths', 'Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!'],
  ['length and chunked', 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a negative length', 'Content-Length: -1\r\n\r\n'],
  ['a length that is no number', 'Content-Length: 0x10\r\n\r\n'],
  ['a length beyond 64 bits', 'Content-Length: 99999999999999999999999\r\n\r\n'],
  ['another transfer coding', 'Transfer-Encoding: xchunked\r\n\r\nhello'],
  ['a space before the colon', 'Content-Length : 5\r\n\r\nhello'],
  ['a folded header', 'X: a\r\n b: c\r\nContent-Length: 0\r\n\r\n'],
  ['a broken chunk', 'Transfer-Encoding: chunked\r\n\r\nZZ\r\nabc\r\n0\r\n\r\n'],
  ['a header beyond the limit', `X: ${'a'.repeat(40_000)}\r\n\r\n`],
])('refuses %s and reads no second request out of it', async (_what, rest) => {
  const { open } = await openFace()
  const client = open().send(`POST /v2/repository/index HTTP/1.1\r\nHost: t\r\n${rest}`, get('/v2/health/live'))
  const reply = await client.reply()
  expect(reply === undefined || reply.status >= 400).toBe(true)
  expect(await client.reply()).toBeUndefined()
  expect((await open().send(get('/v2/health/live')).reply())?.status).toBe(200)
})
