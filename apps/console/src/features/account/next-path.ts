/** Where to go after signing in: only paths of this console, never another site. */
export function readNextPath(search: string): string {
  const next = new URLSearchParams(search).get('next') ?? ''
  if (!next.startsWith('/')) return '/models'
  const base = 'http://console.invalid'
  const url = URL.canParse(next, base) ? new URL(next, base) : undefined
  if (url === undefined || url.origin !== base || url.pathname === '/') return '/models'
  return url.pathname + url.search
}
