import { newTimings, Trace } from '@conch/engine'
import { createRequest } from '@conch/protocol'
import { expect, it } from 'vitest'
import { makeSpans } from './spans.ts'

const timings = { ...newTimings(), start: 2, queued: 3, computeStart: 4, computeInputEnd: 5, computeOutputStart: 6 }
const CALL = { context: { traceId: 'ab'.repeat(16), spanId: '', state: '' }, rootId: 'cd'.repeat(8) }

function open() {
  const parts = { nextId: () => 1, printTensor: undefined, printContext: undefined, onDone: () => undefined }
  const trace = new Trace(parts)
  trace.root.report('HTTP_RECV_START', 1)
  return trace
}
const begin = ({ root }: Trace) =>
  root.begin({ model: 'm', version: '1', config: { platform: '' } }, createRequest({ model: 'm', version: '' }))

it('makes spans of what a backend reports, inside the computation', () => {
  const trace = open()
  begin(trace)
  for (const [at, name] of ['A_START', 'B_START', 'POINT', 'B_END', 'A_END', 'LOOSE', 'C_START'].entries()) {
    trace.root.report(name, 4 + at / 10)
  }
  trace.root.end({ ...timings, computeEnd: 7, end: 8 }, { cached: false, error: undefined })
  const spans = new Map(makeSpans(trace, CALL).map((span) => [span.name, span]))
  expect([...spans.keys()]).toEqual(['InferRequest', 'm', 'compute', 'B', 'A'])
  expect(spans.get('A')?.parentId).toBe(spans.get('compute')?.spanId)
  expect(spans.get('B')?.parentId).toBe(spans.get('A')?.spanId)
  expect(spans.get('B')?.events.map(({ name }) => name)).toEqual(['B_START', 'POINT', 'B_END'])
  expect(spans.get('compute')?.events.map(({ name }) => name)).toContain('LOOSE')
  expect(spans.get('compute')?.events.map(({ name }) => name)).toContain('C_START')
})

it('marks what failed, and makes one span of a request that no version took', () => {
  const failed = open()
  begin(failed)
  failed.root.end({ ...timings, end: 8 }, { cached: false, error: new Error('no luck') })
  expect(makeSpans(failed, CALL).map(({ name, error }) => [name, error])).toEqual([
    ['InferRequest', 'no luck'],
    ['m', 'no luck'],
    ['compute', ''],
  ])
  expect(makeSpans(open(), CALL).map(({ name, start, end }) => [name, start, end])).toEqual([['InferRequest', 1, 1]])
})
