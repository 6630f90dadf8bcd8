import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { hostname } from 'node:os'

export interface GuardOptions {
  /** The address that the console listens on. */
  readonly address: string
  /** Further names it is reached by (a reverse proxy's); `*` = any. */
  readonly allowedHosts: readonly string[]
  /** Further origins whose pages may call it, as in `http://localhost:3000`. */
  readonly allowedOrigins: readonly string[]
}
export interface Refusal {
  readonly status: number
  readonly text: string
}
/** Says why a request may not come in, or undefined. */
export type Guard = (request: IncomingMessage) => Refusal | undefined

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

export function isLoopback(address: string): boolean {
  return address === 'localhost' || address === '::1' || /^127\.\d+\.\d+\.\d+$/.test(address)
}

/**
 * Keeps other people's pages out: a name that was re-pointed at this address (DNS rebinding) fails by its Host, a page of
 * another origin by its Origin, on every method and on upgrades. Clients that are no browsers send neither Origin nor Sec-Fetch-Site.
 */
export function createGuard({ address, allowedHosts, allowedOrigins }: GuardOptions): Guard {
  const names = new Set(
    [...LOOPBACK, address, isIP(address) === 6 ? `[${address}]` : '', ...allowedHosts].map((name) =>
      name.toLowerCase(),
    ),
  )
  const open = !isLoopback(address)
  if (open) names.add(hostname().toLowerCase())
  const knows = (name: string) =>
    names.has('*') || names.has(name) || (open && isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0)

  function checkHost(request: IncomingMessage): Refusal | undefined {
    if (!request.url?.startsWith('/')) return { status: 400, text: 'The request line must hold a path' }
    const name = readHostName(request.headers.host)
    if (name !== undefined && knows(name)) return undefined
    return {
      status: 421,
      text: 'The console is not served under this host name; allow it with --console-allowed-host if it should be',
    }
  }
  function checkOrigin({ headers, method }: IncomingMessage): Refusal | undefined {
    const refusal = { status: 403, text: 'This origin may not call the console' }
    const { origin } = headers
    if (origin !== undefined)
      return isSameOrigin(origin, headers.host) || allowedOrigins.includes(origin) ? undefined : refusal
    if (headers.upgrade !== undefined) return { status: 403, text: 'A WebSocket must name its origin' }
    const site = headers['sec-fetch-site']
    if (site === undefined || site === 'same-origin' || site === 'none') return undefined
    // A link from elsewhere may open a page, and nothing else.
    const navigates = method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && !('x-trpc-source' in headers)
    return navigates ? undefined : refusal
  }
  return (request) => checkHost(request) ?? checkOrigin(request)
}

function readHostName(host: string | undefined): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/.exec((host ?? '').toLowerCase())?.[1]
}

function isSameOrigin(origin: string, host: string | undefined): boolean {
  const authority = /^https?:\/\/([^/?#@]+)$/.exec(origin.toLowerCase())?.[1]
  return authority !== undefined && authority === host?.toLowerCase()
}
