import { createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import type { Engine } from '@conch/engine'
import { createBudgets } from '../budgets.ts'
import type { Budgets } from '../budgets.ts'
import { compileHeaderPattern } from '../header-forwarding.ts'
import { listen } from '../listen.ts'
import type { ServerLog } from '../log.ts'
import { readTls } from '../tls.ts'
import type { GrpcOptions } from '../grpc-options.ts'
import type { AccessLog } from '../tracing/access-log.ts'
import type { Tracer } from '../tracing/tracer.ts'
import { Call } from './call.ts'
import type { Face } from './face.ts'
import { Connection } from './http2/connection.ts'
import type { H2Stream } from './http2/stream.ts'
import { REFLECTION_METHODS } from './reflection.ts'
import { METHODS } from './service.ts'
import type { Method } from './service.ts'
import { GrpcError, STATUS } from './status.ts'
import { SHUTTING_DOWN } from './stream.ts'
import { parseTimeout } from './timeout.ts'

export interface GrpcDependencies {
  readonly engine: Engine
  readonly log: ServerLog
  readonly options: GrpcOptions
  readonly id: string
  readonly allowClientShm: boolean
  /** Shared with other ports; its own unless given. */
  readonly budgets?: Budgets
  readonly trace: Tracer
  readonly access: AccessLog | undefined
}

export interface GrpcFace {
  /** `host:port` or `unix:<path>`, as it is listened on. */
  readonly address: string
  connections(): number
  /** Refuses new connections and inferences; running calls are answered. */
  drain(): void
  /** Ends what is still open. */
  stop(): Promise<void>
}

const CONNECTIONS = 10_000
const LIMITS = { message: 2 ** 31 - 1, inflated: 256 * 2 ** 20, streamRequests: 256, streamBacklog: 64 * 2 ** 20 }

/** The gRPC port. Rejects when the address cannot be had or an option makes no sense. */
export async function startGrpc(dependencies: GrpcDependencies): Promise<GrpcFace> {
  const { options, log } = dependencies
  const face: Face = {
    ...dependencies,
    ...(dependencies.budgets ?? createBudgets({ bodyMemory: options.bodyMemory, maxInputSize: LIMITS.inflated })),
    forward: compileHeaderPattern(options.forwardPattern, 'grpc-header-forward-pattern'),
    limits: LIMITS,
    draining: false,
  }
  const connections = new Set<Connection>()
  const parts = {
    pings: options.pings,
    memory: face.bodies,
    open: (stream: H2Stream, tooLarge: boolean) => openCall(face, stream, tooLarge),
    closed: (connection: Connection) => void connections.delete(connection),
    log: (text: string) => log.write('verbose', `gRPC connection ended: ${text}`),
  }
  const take = (socket: Socket): void => {
    socket.setNoDelay(true)
    const connection = new Connection(socket, parts)
    connections.add(connection)
    if (options.maxAgeMs !== undefined) limitAge(connection, options.maxAgeMs, options.maxAgeGraceMs)
  }
  const { tls } = options
  const server =
    tls === undefined ? createServer(take) : createTlsServer({ ...readTls(tls), ALPNProtocols: ['h2'] }, take)
  server.maxConnections = CONNECTIONS
  const address = await listen(server, options)
  return {
    address,
    connections: () => connections.size,
    drain() {
      face.draining = true
      server.close()
      for (const connection of connections) if (connection.calls === 0) connection.leave()
    },
    stop() {
      for (const connection of connections) connection.destroy()
      return Promise.resolve()
    },
  }
}

/** Asks a client to come back with a new connection once it is old, and insists when the grace is over. */
function limitAge(connection: Connection, ageMs: number, graceMs: number | undefined): void {
  setTimeout(() => {
    connection.leave()
    if (graceMs !== undefined) setTimeout(() => connection.destroy(), graceMs).unref()
  }, ageMs).unref()
}

const JSON_TYPE = 'application/grpc+json'

/** Restricted, then the method itself: the original's order. */
function openCall(face: Face, stream: H2Stream, tooLarge: boolean): Call {
  const call = new Call(face, stream)
  const timeout = call.header('grpc-timeout')
  const found = tooLarge ? TOO_LARGE : findMethod(face, call)
  if (typeof found === 'number') call.refuse(found)
  else if (found instanceof GrpcError) call.fail(found)
  else call.start(found.open(call), timeout === undefined ? undefined : parseTimeout(timeout))
  return call
}

const TOO_LARGE = new GrpcError(STATUS.RESOURCE_EXHAUSTED, 'the metadata is larger than 16384 bytes')

/** The method, or why the call is not begun: a gRPC status, or the HTTP status of what is no gRPC call. */
function findMethod(face: Face, call: Call): Method | GrpcError | number {
  if (call.header(':method') !== 'POST') return 405
  const type = call.header('content-type') ?? ''
  if (!type.startsWith('application/grpc') || type.startsWith(JSON_TYPE)) return 415
  const path = call.header(':path') ?? ''
  if (face.log.verbose > 0) face.log.write('verbose', `gRPC request: ${path}`)
  const method = METHODS.get(path) ?? (face.options.reflection ? REFLECTION_METHODS.get(path) : undefined)
  if (method === undefined) return new GrpcError(STATUS.UNIMPLEMENTED, '')
  return findObstacle(face, call, method) ?? method
}

/** Why a method is closed to this call. */
function findObstacle(face: Face, call: Call, { group }: Method): GrpcError | undefined {
  if (face.draining && group === 'inference') return new GrpcError(STATUS.UNAVAILABLE, SHUTTING_DOWN)
  const restriction = face.options.restricted.get(group)
  if (restriction === undefined) return undefined
  const header = `triton-grpc-protocol-${restriction.header}`
  if (call.header(header) === restriction.value) return undefined
  return new GrpcError(STATUS.UNAVAILABLE, `This protocol is restricted, expecting header '${header}'`)
}
