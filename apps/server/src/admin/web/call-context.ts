import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AdminContext, Services } from '../context.ts'
import { readSessionCookie, writeSessionCookie } from '../session.ts'

/** Forwarding headers are not believed: anybody can send them. */
export function createContext(services: Services, request: IncomingMessage, response?: ServerResponse): AdminContext {
  const put = (token: string, seconds: number) =>
    response?.appendHeader('set-cookie', writeSessionCookie(token, seconds, isSecure(request)))
  return {
    services,
    token: readSessionCookie(request.headers.cookie),
    from: request.socket.remoteAddress ?? '',
    cookies: response === undefined ? undefined : { set: put, clear: () => put('', 0) },
    audit: { who: '', object: '', detail: '' },
  }
}

/** The page's own origin says whether the browser speaks TLS, to us or to a proxy in front. */
function isSecure({ headers }: IncomingMessage): boolean {
  return headers.origin?.startsWith('https://') === true
}
