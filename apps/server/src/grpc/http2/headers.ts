import { FLAG, FRAME, H2_ERROR } from '@conch/protocol'
import type { HeaderList } from '@conch/protocol'
import { ConnectionError } from './frame-reader.ts'
import type { FrameHeader } from './frame-reader.ts'

/** A payload without padding and without priority. Throws for padding that is longer than its frame. */
export function stripPadding({ type, flags, stream }: FrameHeader, payload: Uint8Array): Uint8Array {
  if (stream === 0) throw new ConnectionError(H2_ERROR.PROTOCOL_ERROR, 'a call on stream 0')
  const padded = (flags & FLAG.PADDED) !== 0
  const priority = type === FRAME.HEADERS && (flags & FLAG.PRIORITY) !== 0
  if (!padded && !priority) return payload
  const start = (padded ? 1 : 0) + (priority ? 5 : 0)
  const end = payload.length - (padded ? (payload[0] ?? 0) : 0)
  if (start > end) throw new ConnectionError(H2_ERROR.PROTOCOL_ERROR, 'padding longer than its frame')
  return payload.subarray(start, end)
}

/** Fields that belong to HTTP/1 connections (RFC 9113 §8.2.2). */
const FORBIDDEN = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'])

/** Whether a request's headers are well-formed: pseudo fields first and once, lower-case names, nothing of HTTP/1's connections. */
export function checkHeaders(list: HeaderList): boolean {
  const pseudo = new Set<string>()
  let at = 0
  for (; list[at]?.startsWith(':') === true; at += 2) pseudo.add(list[at] ?? '')
  if (pseudo.size !== at / 2 || pseudo.size > 4 || !NEEDED.every((name) => pseudo.has(name))) return false
  if (list[list.indexOf(':path') + 1] === '') return false
  for (; at < list.length; at += 2) if (!isRegular(list[at] ?? '', list[at + 1])) return false
  return true
}

const NEEDED = [':method', ':path', ':scheme']

function isRegular(name: string, value: string | undefined): boolean {
  if (name === '' || name.startsWith(':') || FORBIDDEN.has(name)) return false
  return name === name.toLowerCase() && (name !== 'te' || value === 'trailers')
}
