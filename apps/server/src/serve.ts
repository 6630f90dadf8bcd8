import { CODE_TEXT, ConchError } from '@conch/protocol'
import { createEngine } from '@conch/engine'
import type { Engine } from '@conch/engine'
import { createBudgets } from './budgets.ts'
import { startSageMaker, startVertex } from './cloud.ts'
import { startGrpc } from './grpc/listener.ts'
import type { GrpcFace } from './grpc/listener.ts'
import { startHttp } from './http/listener.ts'
import type { HttpFace } from './http/listener.ts'
import { IdleCollector } from './idle-collector.ts'
import { parseUnixPath } from './listen.ts'
import { ServerLog } from './log.ts'
import { startMetrics } from './metrics/listener.ts'
import type { MetricsFace } from './metrics/listener.ts'
import type { ServeOptions } from './options.ts'
import { drawTable } from './tables.ts'
import { AccessLog } from './tracing/access-log.ts'
import { Tracer } from './tracing/tracer.ts'
import { CONCH_VERSION, EXTENSIONS, PROTOCOL_VERSION } from './version.ts'

/** What else runs beside the inference ports; `up` adds the console. */
export interface Extra {
  (running: {
    engine: Engine
    log: ServerLog
    addresses: { http: string; metrics: string }
  }): Promise<{ stop(): Promise<void> }>
}

interface Running {
  readonly engine: Engine
  readonly log: ServerLog
  readonly options: ServeOptions
  readonly trace: Tracer
  grpc: GrpcFace | undefined
  http: HttpFace | undefined
  /** Ports of platforms. */
  readonly cloud: HttpFace[]
  metrics: MetricsFace | undefined
  extra: { stop(): Promise<void> } | undefined
}

/**
 * Starts the engine and its faces, serves until a signal comes, drains, and returns the exit code (reference: cli §4, §5).
 * The ports open when every startup model has loaded, not before.
 */
export async function serve(options: ServeOptions, extra?: Extra): Promise<0 | 1> {
  const log = new ServerLog(options.log)
  surviveSurprises(log)
  for (const notice of options.notices) log.write('warning', notice)
  if (options.repositories.length === 0)
    return fail('creating server: Invalid argument - --model-repository must be specified')
  let trace: Tracer
  try {
    trace = new Tracer(options.trace, log)
  } catch (error) {
    return fail(`failed to configure tracing: ${describe(error)}`)
  }
  const stopped = waitForSignal()
  const running: Running = {
    engine: createEngine({ ...options, log }),
    log,
    options,
    trace,
    grpc: undefined,
    http: undefined,
    cloud: [],
    metrics: undefined,
    extra: undefined,
  }
  const problem = await Promise.race([start(running, extra), stopped.then(() => undefined)])
  if (problem !== undefined) {
    await running.engine.stop()
    await stopFaces(running)
    return fail(problem)
  }
  const collector = new IdleCollector()
  await stopped
  collector.stop()
  return stop(running)
}

/** Returns what went wrong, in the original's words, or undefined. */
async function start(running: Running, extra: Extra | undefined): Promise<string | undefined> {
  const { engine, log, options } = running
  try {
    const complete = await engine.start()
    printOptions(log, options)
    if (!complete) {
      log.write('error', 'failed to load all models')
      if (options.exitOnError) return 'creating server: Internal - failed to load all models'
    }
  } catch (error) {
    return `creating server: ${describe(error)}`
  }
  return startFaces(running, extra)
}

function openAccessLog({ options: { accessLog }, log }: Running): AccessLog | undefined {
  return accessLog === 'off' ? undefined : new AccessLog(accessLog, log)
}

async function startFaces(running: Running, extra: Extra | undefined): Promise<string | undefined> {
  const { engine, log, options } = running
  const shared = {
    engine,
    log,
    budgets: createBudgets(options.http),
    id: options.id,
    allowClientShm: options.allowClientShm,
    trace: running.trace,
    access: openAccessLog(running),
  }
  let starting = 'gRPC'
  try {
    if (options.grpc.enabled) {
      running.grpc = await startGrpc({ ...shared, options: options.grpc })
      log.write('info', `Started GRPCInferenceService at ${running.grpc.address}`)
    }
    starting = 'HTTP'
    if (options.http.enabled) {
      running.http = await startHttp({ ...shared, options: options.http })
      log.write('info', `Started HTTPService at ${running.http.address}`)
    }
    starting = 'SageMaker'
    if (options.sagemaker.enabled) {
      const face = await startSageMaker(shared, options)
      running.cloud.push(face)
      log.write('info', `Started Sagemaker HTTPService at ${face.address}`)
    }
    starting = 'Vertex AI'
    if (options.vertex.enabled) {
      const face = await startVertex(shared, options)
      running.cloud.push(face)
      log.write('info', `Started Vertex AI HTTPService at ${face.address}`)
    }
    starting = 'metrics'
    if (options.metrics.enabled) {
      running.metrics = await startMetrics(engine, options.metrics, log)
      log.write('info', `Started Metrics Service at ${running.metrics.address}`)
    }
    starting = 'console'
    running.extra = await extra?.({
      engine,
      log,
      addresses: { http: running.http?.address ?? '', metrics: running.metrics?.address ?? '' },
    })
  } catch (error) {
    return `failed to start ${starting} service: ${explainListen(error, options, starting)}`
  }
  return undefined
}

/** Reverse order of the start; false results and timeouts make the exit code 1. */
async function stop(running: Running): Promise<0 | 1> {
  const { engine, log, http, grpc, options } = running
  grpc?.drain()
  for (const face of running.cloud) face.drain()
  const left = http === undefined ? options.exitTimeoutSeconds : await drainHttp(http, log, options.exitTimeoutSeconds)
  if (left === 0) await http?.stop()
  const clean = await engine.stop(left)
  await stopFaces(running)
  if (clean) return 0
  return fail('failed to stop server: Internal - Exit timeout expired. Exiting immediately.')
}

async function stopFaces(running: Running): Promise<void> {
  await running.extra?.stop()
  await running.metrics?.stop()
  await running.grpc?.stop()
  await running.http?.stop()
  for (const face of running.cloud) await face.stop()
  await running.trace.close()
}

/** Waits for open connections; idle ones are let go at once. Resolves to the seconds that are left, 0 when none are. */
async function drainHttp(http: HttpFace, log: ServerLog, seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1000
  const left = () => Math.max(0, Math.ceil((end - performance.now()) / 1000))
  http.drain()
  let reported = Infinity
  while (http.connections() > 0 && left() > 0) {
    if (left() < reported) {
      reported = left()
      log.write('info', `Timeout ${reported}: Found ${http.connections()} HTTP service connections`)
    }
    await new Promise((resolve) => setTimeout(resolve, 25))
    http.drain()
  }
  return left()
}

/** The engine prints its models itself; this is the original's second table. */
function printOptions(log: ServerLog, options: ServeOptions): void {
  const repositories = options.repositories.map((path, i) => [`model_repository_path[${i}]`, path])
  const startup = options.startupModels.map((name, i) => [`startup_models_${i}`, name])
  log.table(
    drawTable(
      ['Option', 'Value'],
      [
        ['server_id', options.id],
        ['server_version', `${PROTOCOL_VERSION} (Conch ${CONCH_VERSION})`],
        ['server_extensions', EXTENSIONS.join(' ')],
        ...repositories,
        ['model_control_mode', `MODE_${options.controlMode.toUpperCase()}`],
        ...startup,
        ['strict_model_config', options.autoComplete ? '0' : '1'],
        ['model_config_name', options.modelConfigName],
        ['strict_readiness', options.strictReadiness ? '1' : '0'],
        ['rate_limit', options.rateLimit === 'off' ? 'OFF' : 'EXEC_COUNT'],
        ...options.rateLimitResources.map(({ name, count, device }, i) => [
          `rate_limit_resource[${i}]`,
          [name, count, ...(device === undefined ? [] : [device])].join(':'),
        ]),
        ['exit_timeout', String(options.exitTimeoutSeconds)],
        ['cache_enabled', options.cache === undefined ? '0' : '1'],
      ],
    ),
  )
}

function waitForSignal(): Promise<void> {
  return new Promise((resolve) => {
    const numbers = { SIGINT: 2, SIGTERM: 15 } as const
    let seen = false
    for (const [name, number] of Object.entries(numbers)) {
      process.on(name, () => {
        if (seen) return
        seen = true
        process.stdout.write(`Signal (${number}) received.\n`)
        resolve()
      })
    }
  })
}

/** An error that escaped its request is logged; the other requests go on. */
function surviveSurprises(log: ServerLog): void {
  const report = (error: unknown) =>
    log.write('error', `unexpected: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  process.on('uncaughtException', report)
  process.on('unhandledRejection', report)
  process.stdout.on('error', () => undefined)
  process.stderr.on('error', () => undefined)
}

function describe(error: unknown): string {
  if (error instanceof ConchError) return `${CODE_TEXT[error.code]} - ${error.message}`
  return `Internal - ${error instanceof Error ? error.message : String(error)}`
}

/** Service → the prefix of its flags, and where it listens. */
const DOORS = {
  gRPC: ({ grpc }: ServeOptions) => ['grpc', grpc] as const,
  HTTP: ({ http }: ServeOptions) => ['http', http] as const,
  SageMaker: ({ sagemaker }: ServeOptions) => ['sagemaker', sagemaker] as const,
  'Vertex AI': ({ vertex }: ServeOptions) => ['vertex-ai', vertex] as const,
  metrics: ({ metrics }: ServeOptions) => ['metrics', metrics] as const,
  console: (options: ServeOptions) => ['console', options.console] as const,
}

function explainListen(error: unknown, options: ServeOptions, service: string): string {
  if (!(error instanceof Error) || error instanceof ConchError || !('code' in error)) return describe(error)
  const [kind, { address, port }] = DOORS[service as keyof typeof DOORS](options)
  const unix = parseUnixPath(address) !== undefined
  const place = unix ? address : `${address}:${port}`
  if (error.code === 'EADDRINUSE') {
    const flag = `--${kind}-${unix ? 'address' : 'port'}`
    return `Unavailable - Socket '${place}' already in use. Choose another one with ${flag} or end the process that listens there.`
  }
  return `Unavailable - cannot listen on ${place} (${error.message}). See --${kind}-address and --${kind}-port.`
}

function fail(text: string): 1 {
  process.stderr.write(`error: ${text}\n`)
  return 1
}
