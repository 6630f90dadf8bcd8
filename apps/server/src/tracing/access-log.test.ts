import { newTimings } from '@conch/engine'
import { createRequest } from '@conch/protocol'
import { expect, it } from 'vitest'
import { AccessLog } from './access-log.ts'
import type { Access } from './access-log.ts'

const request = createRequest({ model: 'm', version: '2' })
request.id = 'a "b"\n'
request.sequenceId = 7n
const access: Access = {
  protocol: 'http',
  request,
  target: { model: '', version: '' },
  timings: { ...newTimings(), start: 1, queued: 2, computeStart: 2.5, computeEnd: 4 },
  received: 10,
  bytes: 20,
  status: 200,
  milliseconds: 3.25,
}

function open(format: 'text' | 'json') {
  const lines: string[] = []
  const log = new AccessLog(format, {
    write: (level, text) => lines.push(`${level} ${text}`),
    raw: (line) => lines.push(line),
  })
  return { log, lines }
}

it('writes a line of text per inference, in which nothing can pass for another field', () => {
  const { log, lines } = open('text')
  log.write(access)
  expect(lines).toEqual([
    String.raw`info access protocol=http model=m version=2 id="a \"b\"\n" sequence=7 status=200 request_bytes=10 response_bytes=20 queue_us=500 compute_us=1500 total_us=3250`,
  ])
})

it('writes a line of JSON', () => {
  const { log, lines } = open('json')
  log.write({ ...access, timings: undefined, request: undefined, target: { model: 'n', version: '' }, status: 400 })
  const { time, ...fields } = JSON.parse(lines[0] ?? '') as Record<string, unknown>
  expect(Date.parse(String(time))).toBeGreaterThan(0)
  expect(fields).toEqual({
    protocol: 'http',
    model: 'n',
    version: '',
    id: '',
    status: 400,
    request_bytes: 10,
    response_bytes: 20,
    queue_us: 0,
    compute_us: 0,
    total_us: 3250,
  })
})
