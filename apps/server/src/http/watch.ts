import { findHeader } from './headers.ts'
import type { Exchange } from './exchange.ts'
import { RequestWatch, UNWATCHED } from '../tracing/watch.ts'
import type { Watch } from '../tracing/watch.ts'

/** Looks after an inference from here on, when it is to be traced or logged. It ends with the answer, whoever gives it. */
export function watchExchange(exchange: Exchange): Watch {
  const { trace, access } = exchange.face
  if (!trace.on && access === undefined) return UNWATCHED
  const find = (name: string) => findHeader(exchange.req.rawHeaders, name)
  const watch = new RequestWatch({
    tracer: trace,
    access,
    protocol: 'http',
    find,
    target: exchange,
    start: performance.now(),
  })
  const { res } = exchange
  const end = () => watch.sent({ status: res.headersSent ? res.statusCode : 0, bytes: exchange.sentBytes })
  res.once('close', end)
  return watch
}
