import { HttpClient, type HttpOptions } from './http/http-client.ts'
import { SocketTransport, type SocketOptions } from './http/socket-transport.ts'

export interface NodeHttpOptions extends SocketOptions {
  /** Sent with every request. */
  readonly headers?: HttpOptions['headers']
}

/** An HttpClient over sockets of its own: cheaper than fetch, with TLS settings and unix sockets. */
export function openHttp(url: string, options: NodeHttpOptions = {}): HttpClient {
  return new HttpClient(url, { headers: options.headers, transport: new SocketTransport(url, options) })
}
