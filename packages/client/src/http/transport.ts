/** One exchange as a transport sees it. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  /** Percent-encoded, base path and query included. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent one after the other. */
  readonly body: readonly Uint8Array[]
  readonly signal: AbortSignal | undefined
}
export interface HttpHead {
  readonly status: number
  /** By its name in lower case; undefined = absent. */
  header(name: string): string | undefined
}
/** The body is decoded: what Content-Encoding says has been undone. */
export interface HttpAnswer extends HttpHead {
  readonly body: Uint8Array
}
export interface HttpStream extends HttpHead {
  /** Ending the iteration early ends the exchange. */
  readonly body: AsyncIterable<Uint8Array>
}

/** How requests travel: by fetch anywhere, by sockets where there is Node. */
export interface HttpTransport {
  /** The whole answer. */
  send(request: HttpRequest): Promise<HttpAnswer>
  /** The answer as it comes. */
  open(request: HttpRequest): Promise<HttpStream>
  close(): void
}

export function byteLength(parts: readonly Uint8Array[]): number {
  let size = 0
  for (const part of parts) size += part.length
  return size
}

/** One piece of all; a copy, unless there is just one. */
export function joinParts(parts: readonly Uint8Array[]): Uint8Array {
  const [first] = parts
  if (first !== undefined && parts.length === 1) return first
  const whole = new Uint8Array(byteLength(parts))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
