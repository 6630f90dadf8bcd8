/**
 * `node:http` without its ES module facade: building that reads every export, and the one called WebSocket loads undici,
 * which costs the start tens of milliseconds and megabytes that a server never uses.
 */
export const { createServer, IncomingMessage, STATUS_CODES } = process.getBuiltinModule('node:http')
