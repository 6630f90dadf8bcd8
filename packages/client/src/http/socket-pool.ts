import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import { ClientError, describeAbort } from '../error.ts'
import { SocketConnection, type ExchangeSink } from './socket-connection.ts'
import type { HttpRequest } from './transport.ts'

export interface PoolOptions {
  readonly tls?:
    Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'passphrase' | 'servername' | 'rejectUnauthorized'> | undefined
  /** Of a unix socket, instead of the address of the URL. */
  readonly socketPath?: string | undefined
  /** Requests beyond it wait for a free one; default 128. */
  readonly maxConnections?: number | undefined
  /** Milliseconds that an unused connection is kept; default 4 000, below what servers do. */
  readonly idleMs?: number | undefined
}

/** A request that waits for a connection, or has one. */
export class Exchange {
  readonly request: HttpRequest
  readonly sink: ExchangeSink
  connection: SocketConnection | undefined = undefined
  constructor(request: HttpRequest, sink: ExchangeSink) {
    this.request = request
    this.sink = sink
  }
  abort(error: Error): void {
    this.connection?.destroy(error)
  }
}

/** Connections to one server: made when they are needed, kept while they are used. */
export class SocketPool {
  readonly #url: URL
  readonly #options: PoolOptions
  readonly #idle: SocketConnection[] = []
  readonly #all = new Set<SocketConnection>()
  #waiting: Exchange[] = []
  #closed = false

  constructor(url: string | URL, options: PoolOptions) {
    this.#url = new URL(url)
    this.#options = options
  }

  run(request: HttpRequest, sink: ExchangeSink): Exchange {
    const exchange = new Exchange(request, sink)
    if (this.#closed) sink.failed(new ClientError('CANCELLED', 'the client is closed'))
    else if (request.signal?.aborted === true) sink.failed(describeAbort(request.signal))
    else this.#place(exchange)
    return exchange
  }

  close(): void {
    this.#closed = true
    const error = new ClientError('CANCELLED', 'the client is closed')
    for (const { sink } of this.#waiting.splice(0)) sink.failed(error)
    for (const connection of this.#all) connection.destroy(error)
  }

  #place(exchange: Exchange): void {
    const connection = this.#takeIdle() ?? this.#connect()
    if (connection === undefined) this.#wait(exchange)
    else this.#begin(exchange, connection)
  }

  #begin(exchange: Exchange, connection: SocketConnection): void {
    exchange.connection = connection
    const { request, sink } = exchange
    if (request.method === 'POST' || !connection.used) {
      connection.start(request, sink)
      return
    }
    let answered = false
    connection.start(request, {
      head(head) {
        answered = true
        sink.head(head)
      },
      body: (piece) => sink.body(piece),
      end: () => sink.end(),
      // The server may have closed it just now. What only reads may be asked again; an inference may have run.
      failed: (error) =>
        answered || request.signal?.aborted === true || this.#closed ? sink.failed(error) : this.#retry(exchange),
    })
  }

  #retry(exchange: Exchange): void {
    const connection = this.#connect()
    if (connection === undefined) this.#wait(exchange)
    else this.#begin(exchange, connection)
  }

  #wait(exchange: Exchange): void {
    this.#waiting.push(exchange)
    const { signal } = exchange.request
    signal?.addEventListener('abort', () => {
      const at = this.#waiting.indexOf(exchange)
      if (at < 0) return
      this.#waiting.splice(at, 1)
      exchange.sink.failed(describeAbort(signal))
    })
  }

  /** The one that was used last: the others may then grow old. */
  #takeIdle(): SocketConnection | undefined {
    const oldest = performance.now() - (this.#options.idleMs ?? 4_000)
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.usable && connection.idleSince >= oldest) return connection
      connection.destroy()
    }
    return undefined
  }

  #connect(): SocketConnection | undefined {
    if (this.#all.size >= (this.#options.maxConnections ?? 128)) return undefined
    const socket = this.#dial()
    const connection = new SocketConnection(socket, this.#url.host, (free) => this.#free(free))
    this.#all.add(connection)
    socket.once('close', () => {
      this.#all.delete(connection)
      const at = this.#idle.indexOf(connection)
      if (at >= 0) this.#idle.splice(at, 1)
      this.#serveNext()
    })
    return connection
  }

  #dial(): Socket {
    const { tls, socketPath } = this.#options
    const host = this.#url.hostname.replace(/^\[(.*)\]$/, '$1')
    const secure = this.#url.protocol === 'https:'
    const port = this.#url.port === '' ? (secure ? 443 : 80) : Number(this.#url.port)
    const place = socketPath === undefined ? { host, port } : { path: socketPath }
    if (!secure) return connectPlain(place)
    // A certificate for an address is looked up by the address; only names are sent along.
    const name = isIP(host) === 0 ? { servername: host } : undefined
    return connectTls({ ...name, ...tls, ...place, ALPNProtocols: ['http/1.1'] })
  }

  #free(connection: SocketConnection): void {
    if (!connection.usable) return
    const next = this.#waiting.shift()
    if (next === undefined) this.#idle.push(connection)
    else this.#begin(next, connection)
  }

  #serveNext(): void {
    const next = this.#closed ? undefined : this.#waiting.shift()
    if (next !== undefined) this.#place(next)
  }
}
