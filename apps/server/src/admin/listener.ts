import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { nodeHTTPRequestHandler } from '@trpc/server/adapters/node-http'
import { RANK, type Services } from './context.ts'
import { appRouter } from './root.ts'
import type { AdminOptions } from './admin-options.ts'
import { openServices } from './services.ts'
import { createContext } from './web/call-context.ts'
import { createGuard, isLoopback, type Guard } from './web/guard.ts'
import { SAFETY_HEADERS } from './web/headers.ts'
import { createPages, type PagesFace } from './web/pages.ts'
import { createSockets, refuse } from './web/sockets.ts'
import { createUploads, UPLOADS_PATH, type Uploads } from './web/uploads.ts'
import { readSessionCookie, type Session } from './session.ts'

const CONSOLE = fileURLToPath(new URL('../../../console/out', import.meta.url))
const GIB = 1_073_741_824
/** Bytes of a tRPC body: a playground request, or, from strangers, a sign-in. */
const BODY = { member: 48 * 1_048_576, stranger: 65_536 }
const MAX_BATCH = 30

interface Faces {
  readonly services: Services
  readonly guard: Guard
  readonly pages: PagesFace
  readonly uploads: Uploads
}

/** The console's server: pages, tRPC over HTTP and WebSocket, uploads; one port, by default for this machine only. */
export async function startAdmin(options: AdminOptions): Promise<{ url: string; stop(): Promise<void> }> {
  const { address, allowedHosts = [], allowedOrigins = [] } = options
  const uploads = createUploads({
    directory: `${options.dataDirectory}/uploads`,
    maxBytes: options.maxUploadBytes ?? 64 * GIB,
    reserveBytes: GIB / 4,
  })
  const opened = await openServices(options, uploads, isLoopback(address))
  const { services } = opened
  const faces: Faces = {
    services,
    uploads,
    guard: createGuard({ address, allowedHosts, allowedOrigins }),
    pages: createPages(options.consoleDirectory ?? CONSOLE),
  }
  const server = createServer({ headersTimeout: 15_000, requestTimeout: 3_600_000, keepAliveTimeout: 10_000 })
  server.maxConnections = 1500
  server.timeout = 120_000
  const sockets = createSockets(services, appRouter)
  server.on('request', (request, response) => void answer(faces, request, response))
  server.on('upgrade', (request, socket, head) => {
    const refusal = faces.guard(request)
    if (refusal !== undefined) refuse(socket, `${refusal.status} Refused`)
    else if (pathOf(request) !== '/api/ws') refuse(socket, '404 Not Found')
    else void sockets.upgrade(request, socket, head)
  })
  const port = await listen(server, options)
  const name = address === '0.0.0.0' || address === '::' || address === '127.0.0.1' ? 'localhost' : address
  return {
    url: `http://${name.includes(':') ? `[${name}]` : name}:${port}`,
    async stop() {
      sockets.close()
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
      await opened.close()
    },
  }
}

function listen(server: ReturnType<typeof createServer>, { port, address }: AdminOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host: address }, () => resolve((server.address() as AddressInfo).port))
  })
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0] ?? '/'
}

/** Catches everything: one broken request is no reason to stop. */
async function answer(faces: Faces, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const refusal = faces.guard(request)
    if (refusal !== undefined) return sendText(response, refusal.status, refusal.text)
    await route(faces, request, response)
  } catch (error) {
    faces.services.log.write('error', `console: ${request.method} ${pathOf(request)}: ${String(error)}`)
    if (response.headersSent) response.destroy()
    else sendText(response, 500, 'Something failed inside the server; its log says what')
  }
}

async function route(faces: Faces, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = pathOf(request)
  if (!path.startsWith('/api/')) return faces.pages(request, response)
  for (const [name, value] of Object.entries(SAFETY_HEADERS)) response.setHeader(name, value)
  if (path === '/api/health') return sendHealth(faces, response)
  const session = await faces.services.sessions.find(readSessionCookie(request.headers.cookie))
  if (path === UPLOADS_PATH || path.startsWith(`${UPLOADS_PATH}/`))
    return takeUpload(faces, session, { request, response })
  if (!path.startsWith('/api/trpc/')) return sendText(response, 404, 'Not found')
  // What a form of another site can send without being asked is not JSON.
  if (request.method === 'POST' && !/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
    return sendText(response, 415, 'Send application/json')
  }
  response.setHeader('cache-control', 'no-store')
  await callProcedure(faces, session, { request, response })
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** Uploads are written and used here, not handed out. */
async function takeUpload(faces: Faces, session: Session | null, { request, response }: Exchange): Promise<void> {
  if (session === null) return sendText(response, 401, 'Sign in first')
  if (RANK[session.user.role] < RANK.editor) return sendText(response, 403, 'Uploads need the role editor')
  if (request.method === 'GET') return sendText(response, 405, 'Uploads are not handed out')
  await faces.uploads.handle(request, response)
}

function callProcedure(faces: Faces, session: Session | null, { request, response }: Exchange): Promise<void> {
  return nodeHTTPRequestHandler({
    req: request,
    res: response,
    path: decodePath(pathOf(request).slice('/api/trpc/'.length)),
    router: appRouter,
    maxBodySize: session === null ? BODY.stranger : BODY.member,
    maxBatchSize: MAX_BATCH,
    createContext: () => createContext(faces.services, request, response),
    onError: ({ error, path: procedure }) => {
      if (error.code !== 'INTERNAL_SERVER_ERROR') return
      const cause = error.cause ?? error
      faces.services.log.write('error', `console: ${procedure ?? '?'}: ${cause.stack ?? cause.message}`)
    },
  })
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return ''
  }
}

async function sendHealth({ services }: Faces, response: ServerResponse): Promise<void> {
  const [live, ready] = [services.engine.live(), await services.engine.ready()]
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ live, ready }))
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { ...SAFETY_HEADERS, 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
  response.end(`${text}\n`)
}
