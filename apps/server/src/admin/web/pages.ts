import type { IncomingMessage, ServerResponse } from 'node:http'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { SAFETY_HEADERS, writePolicy } from './headers.ts'
import { readSite, type Encoding, type Page, type Site } from './site.ts'

/** Milliseconds between looks at whether the console was built anew. */
const LOOK_MS = 2000

/** Answers GET and HEAD for the console's pages and files. */
export type PagesFace = (request: IncomingMessage, response: ServerResponse) => Promise<void>

export function createPages(directory: string, now: () => number = Date.now): PagesFace {
  const current = watchSite(directory, now)
  return async (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { ...SAFETY_HEADERS, allow: 'GET, HEAD' }).end()
      return
    }
    const site = await current()
    if (site === undefined) {
      send(request, response, { status: 503, type: 'text/html; charset=utf-8', body: Buffer.from(NOT_BUILT) })
      return
    }
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
    const page = site.find(path)
    if (page !== undefined) await sendPage(request, response, { page, status: 200 })
    else await sendMissing(request, response, site)
  }
}

function watchSite(directory: string, now: () => number): () => Promise<Site | undefined> {
  let site: Promise<Site | undefined> | undefined
  let stamp = -1
  let looked = Number.NEGATIVE_INFINITY
  return async () => {
    if (now() - looked < LOOK_MS && site !== undefined) return site
    looked = now()
    const { mtimeMs } = await stat(join(directory, 'index.html')).catch(() => ({ mtimeMs: 0 }))
    if (site === undefined || mtimeMs !== stamp) {
      stamp = mtimeMs
      site = readSite(directory).catch(() => undefined)
    }
    return site
  }
}

async function sendPage(
  request: IncomingMessage,
  response: ServerResponse,
  { page, status }: { page: Page; status: number },
): Promise<void> {
  const headers: Record<string, string> = {
    ...SAFETY_HEADERS,
    'content-type': page.type,
    'content-security-policy': page.policy || writePolicy([]),
    'cache-control': page.immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag: page.etag,
    vary: 'accept-encoding',
  }
  if (status === 200 && request.headers['if-none-match'] === page.etag) {
    response.writeHead(304, headers).end()
    return
  }
  const encoding = chooseEncoding(request.headers['accept-encoding'], page.type)
  const body = await page.read(encoding)
  if (encoding !== 'identity') headers['content-encoding'] = encoding
  headers['content-length'] = String(body.byteLength)
  response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : body)
}

function chooseEncoding(accepted: string | undefined, type: string): Encoding {
  if (!/text|json|javascript|svg|wasm|manifest/.test(type)) return 'identity'
  const offers = (accepted ?? '').split(',').map((offer) => offer.trim())
  const takes = (name: string) => offers.some((offer) => new RegExp(`^${name}(?:;q=(?!0(?:\\.0*)?$).*)?$`).test(offer))
  if (takes('br')) return 'br'
  return takes('gzip') ? 'gzip' : 'identity'
}

async function sendMissing(request: IncomingMessage, response: ServerResponse, site: Site): Promise<void> {
  const page = site.find('/404')
  if (page === undefined) send(request, response, { status: 404, type: 'text/plain', body: Buffer.from('Not found\n') })
  else await sendPage(request, response, { page, status: 404 })
}

interface Plain {
  readonly status: number
  readonly type: string
  readonly body: Uint8Array
}

function send(request: IncomingMessage, response: ServerResponse, { status, type, body }: Plain): void {
  response.writeHead(status, {
    ...SAFETY_HEADERS,
    'content-security-policy': writePolicy([]),
    'content-type': type,
    'content-length': body.byteLength,
    'cache-control': 'no-store',
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}

const NOT_BUILT = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Conch: the console is not built</title>
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"></head>
<body style="font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 15vh auto; padding: 0 1rem">
<h1>The console is not built yet</h1>
<p>The server runs and serves models; only the console's pages are missing. Build them once, in Conch's folder:</p>
<pre>npm run build</pre>
<p>Then load this page again; the server need not be restarted. <code>npm start</code> does both.</p>
</body></html>
`
