import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import { ClientError } from '../error.ts'
import { Connection } from './h2/connection.ts'
import type { KeepAliveOptions } from './h2/keep-alive.ts'

export interface ChannelOptions {
  /** Certificates and what is expected of the server's; left out = no TLS, unless the address says https. */
  readonly tls?:
    Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'passphrase' | 'servername' | 'rejectUnauthorized'> | undefined
  readonly keepAlive?: KeepAliveOptions | undefined
}

/** One server, over one connection that is made when it is needed and again when it was lost. */
export class Channel {
  readonly authority: string
  readonly scheme: 'http' | 'https'
  readonly #host: string
  readonly #port: number
  readonly #options: ChannelOptions
  #connection: Connection | undefined = undefined
  /** All that is still open, also those that take no new calls. */
  readonly #open = new Set<Connection>()
  #closed = false

  /** `address` as in `127.0.0.1:8001` or `https://host:443`. */
  constructor(address: string, options: ChannelOptions) {
    const url = new URL(
      address.includes('://') ? address : `${options.tls === undefined ? 'http' : 'https'}://${address}`,
    )
    this.scheme = url.protocol === 'https:' ? 'https' : 'http'
    this.authority = url.host
    this.#host = url.hostname.replace(/^\[(.*)\]$/, '$1')
    this.#port = url.port === '' ? (this.scheme === 'https' ? 443 : 80) : Number(url.port)
    this.#options = options
  }

  /** The connection to begin calls on. */
  get connection(): Connection {
    if (this.#closed) throw new ClientError('CANCELLED', 'the client is closed')
    return (this.#connection ??= this.#connect())
  }

  close(): void {
    this.#closed = true
    for (const connection of this.#open) connection.destroy(new ClientError('CANCELLED', 'the client is closed'))
  }

  #connect(): Connection {
    const socket = this.#dial()
    socket.setNoDelay(true)
    const connection: Connection = new Connection(socket, this.#options.keepAlive ?? {}, () => {
      if (this.#connection === connection) this.#connection = undefined
    })
    this.#open.add(connection)
    socket.once('close', () => this.#open.delete(connection))
    return connection
  }

  #dial(): Socket {
    if (this.scheme === 'http') return connectPlain({ host: this.#host, port: this.#port })
    return connectTls({
      ...(isIP(this.#host) === 0 ? { servername: this.#host } : undefined),
      ...this.#options.tls,
      host: this.#host,
      port: this.#port,
      ALPNProtocols: ['h2'],
    })
  }
}
