import { setTimeout as sleep } from 'node:timers/promises'
import type { InferResponse } from '@conch/protocol'
import { expect, it, vi } from 'vitest'
import { LIMITS } from '../src/http/limits.ts'
import { openFace, post } from './open-face.ts'

const INFER = '/v2/models/echo/infer'
const SMALL = JSON.stringify({ inputs: [{ name: 'IN', datatype: 'FP32', shape: [1], data: [1] }] })
const head = (length: number) =>
  `POST ${INFER} HTTP/1.1\r\nHost: t\r\nInference-Header-Content-Length: 50\r\nContent-Length: ${length}\r\n\r\n`
const BUSY = /^\{"error":"request bodies in flight may take 100000 bytes together .* --http-body-memory"\}$/

it.each(['gzip, chunked', 'gzip,chunked', 'identity, chunked'])(
  'refuses Transfer-Encoding: %s and ends the connection',
  async (coding) => {
    const { open } = await openFace()
    const client = open().send(`POST ${INFER} HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: ${coding}\r\n\r\n0\r\n\r\n`)
    const reply = await client.reply()
    expect([reply?.status, reply?.head.includes('Connection: close')]).toEqual([501, true])
    expect(reply?.body.toString()).toContain("only 'chunked' is supported")
    await client.closed()
  },
)

it('takes a transfer coding in any case, as one header', async () => {
  const { open } = await openFace()
  const chunk = `${SMALL.length.toString(16)}\r\n${SMALL}\r\n0\r\n\r\n`
  const client = open().send(`POST ${INFER} HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: Chunked\r\n\r\n${chunk}`)
  expect((await client.reply())?.status).toBe(200)
})

it('answers 503 when the bodies in flight take all the memory they may, and serves again when it is free', async () => {
  const waiting: (() => void)[] = []
  const { open } = await openFace(
    {
      infer: ({ inputs }) =>
        new Promise<InferResponse>((resolve) =>
          waiting.push(() => resolve({ model: 'echo', version: '1', id: '', parameters: {}, outputs: inputs })),
        ),
    },
    '--http-body-memory=100000',
  )
  const padded = SMALL.padEnd(60_000)
  const first = open().send(post(INFER, padded))
  await vi.waitFor(() => expect(waiting).toHaveLength(1))
  const second = open().send(post(INFER, padded))
  const refused = await second.reply()
  expect(refused?.status).toBe(503)
  expect(refused?.body.toString()).toMatch(BUSY)
  waiting[0]?.()
  expect((await first.reply())?.status).toBe(200)
  const third = open().send(post(INFER, padded))
  await vi.waitFor(() => expect(waiting).toHaveLength(2))
  waiting[1]?.()
  expect((await third.reply())?.status).toBe(200)
})

it('counts what has come and not what was announced, and forgets it when the client goes', async () => {
  const { open } = await openFace({}, '--http-body-memory=100000')
  const half = open().send(head(2_000_000_000), Buffer.alloc(60_000, ' '))
  const other = async () =>
    (
      await open()
        .send(post(INFER, SMALL.padEnd(60_000)))
        .reply()
    )?.status
  await vi.waitFor(async () => expect(await other()).toBe(503))
  expect((await open().send(post(INFER, SMALL)).reply())?.status).toBe(200)
  half.end()
  await vi.waitFor(async () => expect(await other()).toBe(200))
})

it('refuses a body by what comes of it, not when it is complete', async () => {
  const { open } = await openFace({}, '--http-body-memory=100000')
  const client = open().send(head(1_000_000), Buffer.alloc(150_000, ' '))
  const reply = await client.reply()
  expect([reply?.status, reply?.head.includes('Connection: close')]).toEqual([503, true])
})

it('sees that a client has gone whose requests it reads no further', async () => {
  let started = 0
  let cancelled = 0
  const { face, open } = await openFace({
    infer: (_request, context) =>
      new Promise((_resolve, reject) => {
        started += 1
        context?.signal?.addEventListener('abort', () => {
          cancelled += 1
          reject(new Error('cancelled'))
        })
      }),
  })
  const client = open()
  for (let i = 0; i < 200; i += 1) client.send(post(INFER, SMALL.padEnd(4_000)))
  await vi.waitFor(() => expect(started).toBeGreaterThanOrEqual(LIMITS.pipelined))
  // What it sent is not read to its end: the end of the connection lies behind it.
  expect(started).toBeLessThan(200)
  client.end()
  await vi.waitFor(() => expect([face.connections(), cancelled]).toEqual([0, started]), { timeout: 20_000 })
}, 30_000)

it('ends a connection that sends one-byte chunks on after its answer', async () => {
  const { open } = await openFace()
  const client = open().send('GET /v2/health/live HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n')
  expect((await client.reply())?.status).toBe(200)
  const flood = '1\r\nx\r\n'.repeat(10_000)
  let closed = false
  void client.closed().then(() => (closed = true))
  let sent = 0
  while (!closed && sent < 20) {
    client.send(flood)
    sent += 1
    await sleep(10)
  }
  await client.closed()
  expect(sent).toBeLessThan(20)
})
