import { toBytes } from '@conch/protocol'
import { expect, it, vi } from 'vitest'
import { newTimings } from '../request.ts'
import { testRequest } from '../testing.ts'
import { printTensor } from './print-tensor.ts'
import { Trace } from './trace.ts'

const timings = {
  ...newTimings(),
  start: 1,
  queued: 2,
  computeStart: 3,
  computeInputEnd: 4,
  computeOutputStart: 5,
  computeEnd: 6,
  end: 7,
}
const model = (name: string, platform = '') => ({ model: name, version: '1', config: { platform } })
const request = testRequest('m', [{ name: 'IN', datatype: 'INT32', shape: [2], data: toBytes(Int32Array.of(1, 2)) }])
const OK = { cached: false, error: undefined }

function open(tensors = false) {
  const onDone = vi.fn<(trace: Trace) => void>()
  let id = 0
  const printContext = vi.fn<() => string>(() => 'context')
  const parts = { nextId: () => (id += 1), printTensor: tensors ? printTensor : undefined, printContext, onDone }
  return { trace: new Trace(parts), onDone, printContext }
}
const names = (stamps: readonly { readonly name: string }[]) => stamps.map(({ name }) => name)

it('is done when the face and every request have reported, whoever is last', () => {
  const { trace, onDone } = open()
  const step = trace.root.begin(model('ens', 'ensemble'), request).child().begin(model('step'), request)
  trace.root.end(timings, OK)
  trace.release()
  expect(onDone).not.toHaveBeenCalled()
  step.end(timings, OK)
  expect(onDone).toHaveBeenCalledExactlyOnceWith(trace)
  expect(trace.requests.map((one) => [one.id, one.model, one.parent?.id])).toEqual([
    [1, 'ens', undefined],
    [2, 'step', 1],
  ])
})

it('has the stamps that a request came to: none of computing for ensembles and answers from the cache', () => {
  const { trace } = open()
  const { root } = trace
  root.begin(model('ens', 'ensemble'), request).end(timings, OK)
  expect(names(root.stamps)).toEqual(['REQUEST_START', 'QUEUE_START', 'REQUEST_END'])
  const hit = root.child().begin(model('m'), request)
  hit.end(timings, { ...OK, cached: true })
  expect(names(hit.stamps)).toEqual(['REQUEST_START', 'QUEUE_START', 'REQUEST_END'])
  const refused = root.child().begin(model('m'), request)
  refused.end({ ...newTimings(), start: 1, end: 2 }, { ...OK, error: new Error('x') })
  expect(names(refused.stamps)).toEqual(['REQUEST_START', 'REQUEST_END'])
})

it('does not count a child that no version took', () => {
  const { trace, onDone } = open()
  trace.root.child()
  trace.release()
  expect(onDone).toHaveBeenCalledOnce()
  expect(trace.requests).toEqual([trace.root])
})

it('prints tensors while their memory is theirs, and tells of the first response once', () => {
  const { trace } = open(true)
  const data = toBytes(Int32Array.of(3))
  const { root } = trace
  root.begin(model('m'), request)
  const response = {
    model: 'm',
    version: '1',
    id: '',
    parameters: {},
    outputs: [{ name: 'OUT', datatype: 'INT32', shape: [1], data } as const],
  }
  root.respond(response)
  data.fill(0)
  root.respond(response)
  expect(root.tensors.map(({ activity, name, text }) => [activity, name, text])).toEqual([
    ['TENSOR_QUEUE_INPUT', 'IN', '1,2'],
    ['TENSOR_BACKEND_OUTPUT', 'OUT', '3'],
    ['TENSOR_BACKEND_OUTPUT', 'OUT', '0'],
  ])
  expect(names(root.activities)).toEqual(['INFER_RESPONSE_COMPLETE'])
})

it('survives tensors whose bytes are no such tensor, and stays within bounds', () => {
  const { trace } = open(true)
  const broken = { name: 'B', datatype: 'BYTES', shape: [1], data: Uint8Array.of(9, 9, 9, 9) } as const
  trace.root.begin(model('m'), { ...request, inputs: [broken] })
  expect(trace.root.tensors[0]?.text).toBe('')
  for (let i = 0; i < 5_000; i++) trace.root.report('X', i)
  expect(trace.root.activities).toHaveLength(1_000)
})

it('gives a context only when somebody asks', () => {
  const { trace, printContext } = open()
  expect(printContext).not.toHaveBeenCalled()
  expect([trace.root.context, trace.root.context]).toEqual(['context', 'context'])
  expect(printContext).toHaveBeenCalledOnce()
  expect(trace.root.spanId).toMatch(/^[0-9a-f]{16}$/)
})
