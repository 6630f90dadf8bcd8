import type { Trace, TraceActivity, TracedRequest } from '@conch/engine'
import { toSteadyNs } from './clock.ts'

/**
 * A trace as objects of the trace file, joined by commas (reference: trace-logging §2.1). The newest request comes first, as
 * in the original; readers put the objects together by their ids. Texts are escaped, which the original forgets.
 */
export function printTrace({ requests }: Trace): string {
  return requests.toReversed().map(printRequest).join()
}

const BEFORE = /_(RECV|WAITREAD)_/
const AFTER = /_SEND_/

function printRequest(request: TracedRequest): string {
  const { id, activities, stamps, tensors } = request
  const of = (wanted: (name: string) => boolean) => printStamps(id, activities, wanted)
  const engine = (wanted: (name: string) => boolean) => printStamps(id, stamps, wanted)
  const begins = (name: string) => name === 'REQUEST_START' || name === 'QUEUE_START'
  return [
    ...of((name) => BEFORE.test(name)),
    ...(request.model === '' ? [] : [printHead(request)]),
    ...engine(begins),
    ...tensors.map((tensor) => printTensorObject(id, tensor)),
    ...of((name) => !BEFORE.test(name) && !AFTER.test(name)),
    ...engine((name) => !begins(name)),
    ...of((name) => AFTER.test(name)),
  ].join()
}

function printHead({ id, model, version, requestId, parent }: TracedRequest): string {
  const known = requestId === '' ? '' : `,"request_id":${JSON.stringify(requestId)}`
  const nested = parent === undefined ? '' : `,"parent_id":${parent.id}`
  return `{"id":${id},"model_name":${JSON.stringify(model)},"model_version":${version}${known}${nested}}`
}

function printStamps(id: number, stamps: readonly TraceActivity[], wanted: (name: string) => boolean): string[] {
  return stamps
    .filter(({ name }) => wanted(name))
    .map(({ name, at }) => `{"id":${id},"timestamps":[{"name":${JSON.stringify(name)},"ns":${toSteadyNs(at)}}]}`)
}

function printTensorObject(id: number, tensor: TracedRequest['tensors'][number]): string {
  const { activity, name, text, shape, datatype } = tensor
  const value = { name, data: text, shape: shape.join(), dtype: datatype }
  return `{"id":${id},"activity":"${activity}","tensor":${JSON.stringify(value)}}`
}
