/** What one client may ask of the HTTP port. Milliseconds and bytes. */
export const LIMITS = {
  /** All headers together; proxies add long ones. */
  headerBytes: 32 * 1024,
  headersTimeout: 30_000,
  /** A whole request must have arrived within this time. */
  requestTimeout: 300_000,
  /** An idle kept connection; clients pool them for long. */
  keepAliveTimeout: 600_000,
  /** A client that takes no byte of its answer for this long is let go. */
  sendTimeout: 60_000,
  connections: 16_384,
  /** Requests of one connection that are in flight together; the original has one. What arrived with them is taken too. */
  pipelined: 64,
  /** A connection that is read no further is looked at this often: whether its client has gone is seen only by reading. */
  lookInterval: 1_000,
  /** A look may bring more requests; there is none once this many are in flight. */
  lookUntil: 256,
  /** One request body; the original counts body bytes in an int32. */
  bodyBytes: 2 ** 31 - 1,
  /** Taken at once for a body whose length was announced; beyond that, memory grows as the body arrives. */
  bodyReserve: 8 * 1024 * 1024,
  /** Once that is full, as many times what has arrived is taken of the announced length. */
  bodyTrust: 8,
  /** Bodies from this size on give their memory back when they are answered, without waiting for the collector. */
  releasedBytes: 256 * 1024,
  /** Most that is read and dropped of a body that was answered early, and for how long. */
  unreadBytes: 256 * 1024 * 1024,
  unreadTimeout: 30_000,
  /** Non-empty chunks of a chunked body (reference: http §1). Only pieces below `smallPiece` bytes are counted, for a large
   * chunk arrives in as many pieces as the network makes of it. */
  chunks: 65_536,
  smallPiece: 1024,
  /** JSON from this size on is read and written off the engine thread. */
  jsonOffThread: 1024 * 1024,
} as const
