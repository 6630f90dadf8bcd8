import { newTimings, Trace } from '@conch/engine'
import { createRequest } from '@conch/protocol'
import { expect, it } from 'vitest'
import { toSteadyNs } from './clock.ts'
import { printTrace } from './print-trace.ts'

const MODEL = { model: 'm', version: '3', config: { platform: '' } }

function open(id: string) {
  let last = 0
  const parts = {
    nextId: () => (last += 1),
    printTensor: () => 'a"b',
    printContext: undefined,
    onDone: () => undefined,
  }
  const trace = new Trace(parts)
  const request = createRequest({ model: 'm', version: '' })
  request.id = id
  request.inputs = [{ name: 'IN', datatype: 'BYTES', shape: [1, 2], data: new Uint8Array() }]
  return { trace, request }
}

it('writes the objects of the original in its order, the newest request first', () => {
  const { trace, request } = open('r"1')
  const { root } = trace
  root.report('HTTP_RECV_START', 1)
  root.report('HTTP_RECV_END', 2)
  root.begin(MODEL, request)
  const child = root.child().begin(MODEL, { ...request, id: '', inputs: [] })
  child.end({ ...newTimings(), start: 4, queued: 5, end: 6 }, { cached: false, error: undefined })
  root.report('CUSTOM', 7)
  root.end({ ...newTimings(), start: 3, queued: 4, computeStart: 5, end: 9 }, { cached: false, error: undefined })
  root.report('HTTP_SEND_START', 10)
  const objects = JSON.parse(`[${printTrace(trace)}]`) as Record<string, unknown>[]
  expect(objects[0]).toEqual({ id: 2, model_name: 'm', model_version: 3, parent_id: 1 })
  const own = objects.filter(({ id }) => id === 1)
  expect(own[2]).toEqual({ id: 1, model_name: 'm', model_version: 3, request_id: 'r"1' })
  const names = own.map((one) => (one['timestamps'] as { name: string }[] | undefined)?.[0]?.name ?? one['activity'])
  expect(names).toEqual([
    'HTTP_RECV_START',
    'HTTP_RECV_END',
    undefined,
    'REQUEST_START',
    'QUEUE_START',
    'TENSOR_QUEUE_INPUT',
    'CUSTOM',
    'INFER_RESPONSE_COMPLETE',
    'COMPUTE_START',
    'REQUEST_END',
    'HTTP_SEND_START',
  ])
  expect(own[5]?.['tensor']).toEqual({ name: 'IN', data: 'a"b', shape: '1,2', dtype: 'BYTES' })
  expect(printTrace(trace)).toContain(`{"id":1,"timestamps":[{"name":"HTTP_RECV_START","ns":${toSteadyNs(1)}}]}`)
})

it('uses the monotonic clock', () => {
  const now = process.hrtime.bigint()
  expect(Number(toSteadyNs(performance.now()) - now)).toBeLessThan(1e9)
  expect(Number(toSteadyNs(performance.now()) - now)).toBeGreaterThan(-1e6)
})
