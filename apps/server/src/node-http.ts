import type { Server, ServerOptions } from 'node:https'

/**
 * `node:http` without its ES module facade: building that reads every export, and the one called WebSocket loads undici,
 * which costs the start tens of milliseconds and megabytes that a server never uses.
 */
export const { createServer, IncomingMessage, STATUS_CODES } = process.getBuiltinModule('node:http')

/** The same over TLS, loaded by those who use it. */
export function createSecureServer(options: ServerOptions): Server {
  return process.getBuiltinModule('node:https').createServer(options)
}
