export type Compression = 'gzip' | 'deflate'

/** What may be said of any single call. */
export interface CallOptions {
  /** Ends the call here and, as soon as the server learns of it, there. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds until the call is given up; by default it waits as long as the connection lives. */
  readonly timeoutMs?: number | undefined
  /** HTTP headers or gRPC metadata of this call. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** And of a gRPC call. */
export interface RpcOptions extends CallOptions {
  readonly requestCompression?: Compression | undefined
}

/** The signal that ends a call: the caller's, the clock's, or whichever comes first. */
export function callSignal({ signal, timeoutMs }: CallOptions): AbortSignal | undefined {
  if (timeoutMs === undefined) return signal
  const clock = AbortSignal.timeout(timeoutMs)
  return signal === undefined ? clock : AbortSignal.any([signal, clock])
}
