import { STATUS_CODES } from '../node-http.ts'
import { ConchError, HTTP_STATUS } from '@conch/protocol'
import type { ContentType } from './content-type.ts'
import type { Exchange } from './exchange.ts'
import { LIMITS } from './limits.ts'

/** The original's phrase where it is not the usual one. */
const PHRASE: Readonly<Record<number, string>> = { 405: 'Not Allowed' }
/** Up to here header and body leave as one string, which is cheaper than two buffers. */
const ONE_WRITE = 32 * 1024
const NOTHING = Buffer.alloc(0)

/** Sends a whole answer. `parts` follow each other in the body; they are not copied when they are large. */
export function send(
  exchange: Exchange,
  status: number,
  content: { type: ContentType; parts: readonly Uint8Array[]; more?: readonly string[] },
): void {
  const { res } = exchange
  if (exchange.answered || res.destroyed) return
  exchange.markAnswered()
  const { type, parts, more } = content
  let length = 0
  for (const part of parts) length += part.length
  exchange.sentBytes = length
  const fields: string[] = []
  addConnection(exchange, fields)
  if (type !== 'text/plain') fields.push('Content-Type', type)
  if (more !== undefined) fields.push(...more)
  fields.push('Content-Length', String(length))
  if (type === 'text/plain') fields.push('Content-Type', type)
  res.writeHead(status, PHRASE[status] ?? STATUS_CODES[status] ?? 'UNKNOWN', fields)
  if (length <= ONE_WRITE) res.end(joinLatin1(parts), 'latin1')
  else sendLarge(exchange, parts)
}

const joined = Buffer.allocUnsafeSlow(ONE_WRITE)

/** Of `ONE_WRITE` bytes at most. Copying small pieces together costs less than a text of each. */
function joinLatin1(parts: readonly Uint8Array[]): string {
  let length = 0
  for (const part of parts) {
    joined.set(part, length)
    length += part.length
  }
  return joined.toString('latin1', 0, length)
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Headers and all parts leave in one writev; a client that stops reading is let go after a while. */
function sendLarge({ res }: Exchange, parts: readonly Uint8Array[]): void {
  res.cork()
  for (const part of parts) if (part.length > 0) res.write(toBuffer(part))
  res.end()
  const socket = res.socket
  if (socket && socket.writableLength > 0) socket.setTimeout(LIMITS.sendTimeout)
}

/** HTTP/1.1 connections stay open without saying so, as the original's do. */
export function addConnection(exchange: Exchange, fields: string[]): void {
  const { face, res, req } = exchange
  res.sendDate = false
  if (face.options.corsOrigins.length > 0) addCors(face.options.corsOrigins, exchange.headers.origin, fields)
  if (face.draining || !res.shouldKeepAlive || leavesMuchUnread(exchange)) fields.push('Connection', 'close')
  else if (req.httpVersionMinor === 0) fields.push('Connection', 'keep-alive')
  else res.removeHeader('connection')
}

/**
 * An answer may come before its body. A moderate rest is read and dropped, so that the client can finish sending and
 * then sees the answer; a huge one, or one that waits for `100 Continue`, ends with the connection.
 */
function leavesMuchUnread({ req, headers, expectsContinue }: Exchange): boolean {
  if (req.complete) return false
  return expectsContinue || Number(headers.contentLength ?? 0) > LIMITS.unreadBytes
}

/** Superset (docs/compat.md): the original answers no CORS request. */
export function addCors(allowed: readonly string[], origin: string | undefined, fields: string[]): void {
  if (origin === undefined || !(allowed.includes('*') || allowed.includes(origin))) return
  fields.push('Access-Control-Allow-Origin', origin, 'Vary', 'Origin')
  fields.push('Access-Control-Expose-Headers', 'Inference-Header-Content-Length')
}

export function sendJson(exchange: Exchange, value: unknown): void {
  send(exchange, 200, { type: 'application/json', parts: [Buffer.from(JSON.stringify(value))] })
}

export function sendEmpty(exchange: Exchange, status: number, type: ContentType): void {
  send(exchange, status, { type, parts: [NOTHING] })
}

/** A fixed text that is not a ConchError: 403, 404 and 405 come from the front end itself. */
export function sendRefusal(
  exchange: Exchange,
  status: 400 | 403 | 404 | 405 | 501,
  refusal: { type: ContentType; text: string },
): void {
  send(exchange, status, { type: refusal.type, parts: [errorBody(refusal.text)] })
}

/** The only place where a thrown thing becomes an answer. What is not a ConchError is logged and not shown. */
export function sendError(exchange: Exchange, error: unknown, type: ContentType): void {
  const known = toConchError(exchange, error)
  send(exchange, statusOf(exchange, known), { type, parts: [errorBody(known.message)] })
}

/** What a model answered with; platforms have statuses of their own for it. */
export function sendModelError(exchange: Exchange, error: unknown): void {
  const known = toConchError(exchange, error)
  const status = exchange.face.door.modelErrorStatus?.(known.message) ?? statusOf(exchange, known)
  send(exchange, status, { type: 'text/plain', parts: [errorBody(known.message)] })
}

/** A `Content-Encoding` that is not known; the answer says which are. */
export function refuseCompression(exchange: Exchange): void {
  const status = exchange.face.options.properClientErrors ? 415 : HTTP_STATUS.UNSUPPORTED
  const more = ['Accept-Encoding', 'gzip, deflate']
  send(exchange, status, { type: 'text/plain', parts: [errorBody('Unsupported compression type')], more })
}

export function toConchError(exchange: Exchange, error: unknown): ConchError {
  if (error instanceof ConchError) {
    if (error.cause !== undefined)
      exchange.face.log.write('verbose', `${exchange.path}: ${error.message}: ${describe(error.cause)}`)
    return error
  }
  exchange.face.log.write('error', `unexpected error while answering ${exchange.path}: ${describe(error)}`)
  return new ConchError('INTERNAL', 'unexpected error, see the log of the server')
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : JSON.stringify(error)
}

/** Superset: with `--http-client-errors=400` a malformed request is the client's mistake, whatever the original calls it. */
function statusOf(exchange: Exchange, error: ConchError): number {
  const { properClientErrors } = exchange.face.options
  if (properClientErrors && error.code === 'INTERNAL' && MALFORMED.test(error.message)) return 400
  return HTTP_STATUS[error.code]
}
const MALFORMED =
  /^(failed to parse the request JSON buffer|Unable to parse|Failed to parse 'data'|attempt to |failed to get request params)/

export function errorBody(message: string): Buffer {
  return Buffer.from(JSON.stringify({ error: message }))
}
