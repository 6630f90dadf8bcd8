import { findHeader } from './headers.ts'
import type { Exchange } from './exchange.ts'
import { RequestWatch, UNWATCHED } from '../tracing/watch.ts'
import type { Watch } from '../tracing/watch.ts'

/** Looks after an inference from here on, when it is to be traced or logged. */
export function watchExchange(exchange: Exchange): Watch {
  const { trace, access } = exchange.face
  return trace.on || access !== undefined ? new HttpWatch(exchange) : UNWATCHED
}

class HttpWatch extends RequestWatch {
  readonly #exchange: Exchange
  #listens = false

  constructor(exchange: Exchange) {
    const { trace, access } = exchange.face
    const find = (name: string) => findHeader(exchange.req.rawHeaders, name)
    super({ tracer: trace, access, protocol: 'http', find, target: exchange, start: performance.now() })
    this.#exchange = exchange
  }

  override sending(): void {
    super.sending()
    if (this.#listens) return
    this.#listens = true
    const { res } = this.#exchange
    const end = () => this.sent({ status: res.statusCode, bytes: this.#exchange.sentBytes })
    if (res.closed || res.destroyed) end()
    else res.once('close', end)
  }
}
