import { createSecureServer, createServer } from '../node-http.ts'
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Engine } from '@conch/engine'
import type { ServerLog } from '../log.ts'
import type { HttpOptions } from '../options.ts'
import { createBudgets } from '../budgets.ts'
import type { Budgets } from '../budgets.ts'
import { EXTENSIONS, PROTOCOL_VERSION } from '../version.ts'
import { Connections } from './connection.ts'
import type { Face } from './exchange.ts'
import { Exchange } from './exchange.ts'
import { compileHeaderPattern } from '../header-forwarding.ts'
import { listen } from '../listen.ts'
import { readTls } from '../tls.ts'
import { findHeader } from './headers.ts'
import { JsonWorkers } from './json-workers.ts'
import { LIMITS } from './limits.ts'
import { Message } from './message.ts'
import { addCors, sendEmpty, sendError, sendRefusal } from './reply.ts'
import type { Door, Route } from './routes/route.ts'
import { findRoute } from './routes/v2.ts'
import type { AccessLog } from '../tracing/access-log.ts'
import type { Tracer } from '../tracing/tracer.ts'

export interface HttpDependencies {
  readonly engine: Engine
  readonly log: ServerLog
  readonly options: HttpOptions
  /** `name` of the server metadata. */
  readonly id: string
  readonly allowClientShm: boolean
  /** Shared with other ports; its own unless given. */
  readonly budgets?: Budgets
  readonly trace: Tracer
  readonly access: AccessLog | undefined
  /** Which URLs are answered; KServe's unless given. */
  readonly door?: Door<Exchange>
}

export interface HttpFace {
  /** `host:port` or `unix:<path>`, as it is listened on. */
  readonly address: string
  /** Connections that are open. */
  connections(): number
  /** Refuses new connections, lets idle ones go; running requests are answered. */
  drain(): void
  /** Ends what is still open. */
  stop(): Promise<void>
}

const KSERVE: Door<Exchange> = { find: findRoute, unknown: { status: 404, text: 'Not Found' } }

/** A port that answers HTTP, KServe v2 unless another door is given. Rejects when the address cannot be had or an option makes no sense. */
export async function startHttp(dependencies: HttpDependencies): Promise<HttpFace> {
  const { engine, log, options, id, allowClientShm, trace, access } = dependencies
  const face: Face = {
    engine,
    log,
    options,
    allowClientShm,
    metadata: Buffer.from(JSON.stringify({ name: id, version: PROTOCOL_VERSION, extensions: EXTENSIONS })),
    forward: compileHeaderPattern(options.forwardPattern),
    workers: new JsonWorkers(options.threads),
    ...(dependencies.budgets ?? createBudgets(options)),
    trace,
    access,
    door: dependencies.door ?? KSERVE,
    draining: false,
  }
  const connections = new Connections()
  const server = openServer(face, connections)
  const address = await listen(server, options)
  return {
    address,
    connections: () => connections.size,
    drain() {
      face.draining = true
      server.close()
      server.closeIdleConnections()
      connections.endSilent()
    },
    async stop() {
      server.closeAllConnections()
      await face.workers.stop()
    },
  }
}

const SETTINGS = {
  IncomingMessage: Message,
  maxHeaderSize: LIMITS.headerBytes,
  headersTimeout: LIMITS.headersTimeout,
  requestTimeout: LIMITS.requestTimeout,
  keepAliveTimeout: LIMITS.keepAliveTimeout,
  connectionsCheckingInterval: 5_000,
  requireHostHeader: false,
  noDelay: true,
}

function openServer(face: Face, connections: Connections): Server {
  const { tls } = face.options
  const server = tls === undefined ? createServer(SETTINGS) : createSecureServer({ ...SETTINGS, ...readTls(tls) })
  const take = (req: Message, res: ServerResponse, expectsContinue: boolean) => {
    const url = req.url ?? ''
    const query = url.indexOf('?')
    const path = query < 0 ? url : url.slice(0, query)
    dispatch(new Exchange(face, connections.of(req.socket), { req, res, path, expectsContinue }))
  }
  server.on('request', (req: Message, res: ServerResponse) => take(req, res, false))
  server.on('checkContinue', (req: Message, res: ServerResponse) => take(req, res, true))
  server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => connections.add(socket))
  server.maxConnections = LIMITS.connections
  server.on(
    'drop',
    onceASecond(() => face.log.write('warning', `refusing HTTP connections: ${LIMITS.connections} are open`)),
  )
  return server
}

function onceASecond(act: () => void): () => void {
  let last = -Infinity
  return () => {
    const now = performance.now()
    if (now - last < 1000) return
    last = now
    act()
  }
}

/** Restricted, then method, then the route itself: the original's order. Nothing thrown leaves this function. */
function dispatch(exchange: Exchange): void {
  const { face, req } = exchange
  if (face.log.verbose > 0) face.log.write('verbose', `HTTP request: ${req.method ?? ''} ${exchange.path}`)
  if (!isReadable(exchange.headers.transferEncoding)) return refuseCoding(exchange)
  const route = face.door.find(exchange)
  if (face.options.corsOrigins.length > 0 && req.method === 'OPTIONS' && answerPreflight(exchange)) return
  if (route === undefined) return refuseUnknown(exchange)
  const header = missingHeader(exchange, route)
  if (header !== undefined) {
    return sendRefusal(exchange, 403, {
      type: 'text/plain',
      text: `This API is restricted, expecting header '${header}'`,
    })
  }
  if (!route.methods.includes(req.method ?? '')) {
    return sendRefusal(exchange, 405, { type: route.errors, text: 'Method Not Allowed' })
  }
  answer(exchange, route)
}

function refuseUnknown(exchange: Exchange): void {
  const { status, text } = exchange.face.door.unknown
  if (text === '') sendEmpty(exchange, status, 'text/plain')
  else sendRefusal(exchange, status, { type: 'text/plain', text })
}

function answer(exchange: Exchange, route: Route<Exchange>): void {
  try {
    const pending = route.answer(exchange)
    if (pending === undefined) return exchange.close()
    pending.then(
      () => exchange.close(),
      (error: unknown) => fail(exchange, error, route),
    )
  } catch (error) {
    fail(exchange, error, route)
  }
}

function fail(exchange: Exchange, error: unknown, route: Route<Exchange>): void {
  sendError(exchange, error, route.errors)
  exchange.close()
}

function isReadable(transferEncoding: string | undefined): boolean {
  return transferEncoding === undefined || transferEncoding.trim().toLowerCase() === 'chunked'
}

/** A coding that nobody undoes: what follows on the connection could be taken for anything. */
function refuseCoding(exchange: Exchange): void {
  exchange.res.shouldKeepAlive = false
  sendRefusal(exchange, 501, { type: 'text/plain', text: "Unsupported transfer coding, only 'chunked' is supported" })
}

function missingHeader({ face, req }: Exchange, route: Route<Exchange>): string | undefined {
  const restriction = face.options.restricted.get(route.group)
  if (restriction === undefined || findHeader(req.rawHeaders, restriction.header) === restriction.value)
    return undefined
  return restriction.header
}

/** Superset: browsers ask before they post; the original never answers them. */
function answerPreflight(exchange: Exchange): boolean {
  const fields: string[] = []
  addCors(exchange.face.options.corsOrigins, exchange.headers.origin, fields)
  if (fields.length === 0) return false
  const wanted = findHeader(exchange.req.rawHeaders, 'access-control-request-headers')
  fields.push('Access-Control-Allow-Methods', 'GET, POST', 'Access-Control-Max-Age', '600')
  if (wanted !== undefined) fields.push('Access-Control-Allow-Headers', wanted)
  exchange.markAnswered()
  exchange.res.writeHead(204, fields).end()
  return true
}
