import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { ResponseReader } from './response-reader.ts'

/** Reads a connection's worth of answers that come in pieces. */
function read(pieces: readonly Buffer[], count: number) {
  const reader = new ResponseReader()
  const answers: { status: number; type: string | undefined; body: string; reusable: boolean }[] = []
  const expectNext = () => {
    const answer = { status: 0, type: undefined as string | undefined, body: '', reusable: false }
    reader.expect({
      head(head) {
        answer.status = head.status
        answer.type = head.header('content-type')
      },
      body: (piece) => (answer.body += Buffer.from(piece).toString('latin1')),
      end(reusable) {
        answer.reusable = reusable
        answers.push(answer)
        if (answers.length < count) expectNext()
      },
    })
  }
  expectNext()
  for (const piece of pieces) reader.push(piece)
  return { answers, reader }
}

const LENGTH = 'HTTP/1.1 200 OK\r\ncontent-TYPE:  a/b \r\nContent-Length: 5\r\n\r\nhello'
const CHUNKED =
  'HTTP/1.1 400 Bad\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n00a\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n'
const EMPTY = 'HTTP/1.1 204 \r\nConnection: close\r\n\r\n'
const INTERIM = 'HTTP/1.1 100 Continue\r\n\r\n'

it('reads answers however they are cut', () => {
  const whole = Buffer.from(LENGTH + INTERIM + CHUNKED + LENGTH + EMPTY, 'latin1')
  fc.assert(
    fc.property(fc.array(fc.nat(whole.length), { maxLength: 12 }), (cuts) => {
      const edges = [0, ...cuts.sort((a, b) => a - b), whole.length]
      const { answers } = read(
        edges.slice(1).map((edge, index) => whole.subarray(edges[index], edge)),
        4,
      )
      expect(answers).toEqual([
        { status: 200, type: 'a/b', body: 'hello', reusable: true },
        { status: 400, type: undefined, body: 'abc0123456789', reusable: true },
        { status: 200, type: 'a/b', body: 'hello', reusable: true },
        { status: 204, type: undefined, body: '', reusable: false },
      ])
    }),
  )
})

it('an answer without a length ends with the connection', () => {
  const { answers, reader } = read([Buffer.from('HTTP/1.0 200 OK\r\n\r\nall of it')], 1)
  expect(answers).toEqual([])
  expect(reader.close()).toBe(true)
  expect(answers).toMatchObject([{ body: 'all of it', reusable: false }])
})

it.each([
  ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', /'SSH-2.0/],
  ['a status that is none', 'HTTP/1.1 20 OK\r\n\r\n', /status line/],
  ['a header without a name', 'HTTP/1.1 200 OK\r\n: x\r\n\r\n', /header without a name/],
  ['a negative length', 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n', /'-1' as its length/],
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', /two lengths/],
  [
    'a length and chunks',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    /transfer encoding/,
  ],
  ['another coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n', /'gzip'/],
  ['a chunk that is no number', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-3\r\n', /'-3' as the size/],
  [
    'a chunk that is too long',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n',
    /longer than announced/,
  ],
  ['endless headers', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(70_000)}`, /headers of over 65536 bytes/],
  [
    'an endless chunk line',
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1'.repeat(2_000)}`,
    /chunk without a size/,
  ],
  ['more than was asked for', `${LENGTH}HTTP/1.1 200 OK`, /nobody asked for/],
])('refuses %s', (_, text, message) => {
  expect(() => read([Buffer.from(text)], 1)).toThrow(message)
})
