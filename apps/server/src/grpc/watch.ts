import type { Call } from './call.ts'
import { RequestWatch, UNWATCHED } from '../tracing/watch.ts'
import type { Watch } from '../tracing/watch.ts'

/** Its message has not been read. */
const UNKNOWN = { model: '', version: '' }

/** Looks after one request of a call from here on, when it is to be traced or logged. `start`: when it was first waited for. */
export function watchCall(call: Call, start = 0): Watch {
  const { trace, access } = call.face
  if (!trace.on && access === undefined) return UNWATCHED
  const find = (name: string) => call.header(name)
  return new RequestWatch({
    tracer: trace,
    access,
    protocol: 'grpc',
    find,
    target: UNKNOWN,
    start: start || performance.now(),
  })
}
