import type { HeaderList } from '@conch/protocol'

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
