import type { Flag } from './flags.ts'
import { SERVE_FLAGS, UP_FLAGS } from './flags.ts'
import type { Given } from './command-line.ts'
import { checkValue, parseFloating, parseInteger, readCommandLine, UsageError } from './command-line.ts'
import { parseSageMaker, parseVertex } from './cloud-options.ts'
import type { CloudOptions, SageMaker, Vertex } from './cloud-options.ts'
import { parseGrpc } from './grpc-options.ts'
import type { GrpcOptions } from './grpc-options.ts'
import { defaultAddress, parseBodyMemory, Values } from './option-values.ts'
import type { Environment } from './option-values.ts'
import type { ApiGroup, Restriction } from './settings.ts'
import {
  checkHostPolicy,
  checkParts,
  groupSettings,
  parseMetricsSetting,
  parseOwnedSetting,
  parseRestrictions,
} from './settings.ts'
import { parseCache } from './cache-settings.ts'
import type { CacheChoice } from './cache-settings.ts'
import { checkPorts } from './ports.ts'
import { parseRateLimit, parseResources } from './rate-limit-settings.ts'
import type { ResourceLimit } from './rate-limit-settings.ts'
import { parseTls } from './tls.ts'
import type { TlsFiles } from './tls.ts'
import { parseTrace } from './tracing/trace-options.ts'
import type { TraceOptions } from './tracing/trace-options.ts'

export interface LogOptions {
  readonly verbose: number
  readonly info: boolean
  readonly warning: boolean
  readonly error: boolean
  readonly format: 'default' | 'ISO8601'
  /** Empty = the console. */
  readonly file: string
  /** Control characters in messages are written as JSON does, so that a line stays a line. */
  readonly escape: boolean
}

export interface HttpOptions {
  readonly enabled: boolean
  readonly address: string
  readonly port: number
  readonly reusePort: boolean
  /** Empty = no header is forwarded. */
  readonly forwardPattern: string
  /** Most threads for large JSON bodies. */
  readonly threads: number
  /** Bytes. */
  readonly maxInputSize: number
  /** Superset: bytes that all request bodies in flight may take together. */
  readonly bodyMemory: number
  readonly restricted: ReadonlyMap<ApiGroup, Restriction>
  /** Superset: origins allowed by CORS; empty = no CORS answers, as the original. */
  readonly corsOrigins: readonly string[]
  /** Superset: 400 instead of the recorded 500 for malformed JSON, 415 instead of 501 for an unknown encoding. */
  readonly properClientErrors: boolean
  /** Superset; undefined = plain HTTP. */
  readonly tls: TlsFiles | undefined
}

export interface MetricsOptions {
  readonly enabled: boolean
  readonly address: string
  readonly port: number
  readonly cpu: boolean
  readonly gpu: boolean
  readonly intervalMs: number
  readonly config: Readonly<Record<string, string>>
}

export interface ConsoleOptions {
  readonly address: string
  readonly port: number
  readonly dataDirectory: string
  /** Names of a reverse proxy in front; `*` = any. */
  readonly allowedHosts: readonly string[]
}

/** Everything the command line and the environment say, checked once. */
export interface ServeOptions {
  readonly id: string
  readonly exitTimeoutSeconds: number
  readonly log: LogOptions
  readonly repositories: readonly string[]
  readonly exitOnError: boolean
  readonly autoComplete: boolean
  readonly strictReadiness: boolean
  readonly controlMode: 'none' | 'poll' | 'explicit'
  readonly pollSeconds: number
  readonly startupModels: readonly string[]
  readonly modelConfigName: string
  readonly loadThreads: number
  readonly loadRetries: number
  readonly namespacing: boolean
  readonly backendConfig: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Superset: where custom backends are looked for, `<directory>/<name>/backend.{ts,js,mjs}`. */
  readonly backendDirectory: string
  /** Undefined = responses are not kept. */
  readonly cache: CacheChoice | undefined
  readonly rateLimit: 'execution_count' | 'off'
  readonly rateLimitResources: readonly ResourceLimit[]
  readonly allowClientShm: boolean
  readonly http: HttpOptions
  readonly grpc: GrpcOptions
  readonly sagemaker: CloudOptions & SageMaker
  readonly vertex: CloudOptions & Vertex
  readonly metrics: MetricsOptions
  readonly trace: TraceOptions
  /** Superset: one line per inference. */
  readonly accessLog: 'off' | 'text' | 'json'
  readonly console: ConsoleOptions
  /** Flags that were given and change nothing, each with its reason. */
  readonly notices: readonly string[]
}

/** Reads the command line of `serve` (or `up`). Throws UsageError on the first mistake. */
export function parseServeOptions(
  args: readonly string[],
  env: Environment,
  command: 'serve' | 'up' = 'serve',
): ServeOptions {
  const flags = command === 'up' ? UP_FLAGS : SERVE_FLAGS
  const given = command === 'up' ? addConsoleDefaults(readCommandLine(args, flags)) : readCommandLine(args, flags)
  for (const flag of flags)
    if (flag.name !== 'log-verbose') for (const text of given.get(flag.name) ?? []) checkValue(flag, text)
  const values = new Values(given)
  checkLaterSettings(values)
  const vertex = env['AIP_MODE'] === 'PREDICTION'
  const options: ServeOptions = {
    id: values.text('id', 'triton'),
    exitTimeoutSeconds: Math.max(0, values.int('exit-timeout-secs', 30)),
    log: parseLog(values, env),
    ...parseRepository(values, env),
    backendConfig: groupSettings(
      values.all('backend-config').map((text) => parseOwnedSetting('backend-config', text, 'backend name')),
    ),
    ...parseServing(values, env),
    allowClientShm: values.bool('allow-client-shm', false),
    http: parseHttp(values, !vertex),
    grpc: parseGrpc(values, !vertex),
    sagemaker: parseSageMaker(values, env),
    vertex: parseVertex(values, env, vertex),
    metrics: parseMetrics(values, env),
    trace: parseTrace(values, env),
    accessLog: parseAccessLog(values.text('access-log', 'off')),
    console: {
      address: values.text('console-address', '127.0.0.1'),
      port: values.int('console-port', 8080),
      dataDirectory: values.text('data-dir', '.conch'),
      allowedHosts: values.all('console-allowed-host'),
    },
    notices: listNotices(values, flags),
  }
  checkPorts(options, command)
  return options
}

/** With a console models come and go by hand: all are loaded at start, and one that fails is shown there, not the end. */
function addConsoleDefaults(given: Given): Given {
  const defaults: [string, readonly string[]][] = [
    ['exit-on-error', ['false']],
    ['grpc-reflection', ['true']],
  ]
  if (!given.has('model-control-mode')) {
    defaults.push(['model-control-mode', ['explicit']], ['load-model', ['*']])
  }
  return new Map([...defaults, ...given])
}

function parseLog(values: Values, env: Environment): LogOptions {
  const format = values.text('log-format', 'default')
  if (format !== 'default' && format !== 'ISO8601')
    throw new UsageError('log-format', `invalid argument for --log-format, got: ${format}`)
  const verbose = values.text('log-verbose', '0')
  const level = /^(true|on)$/i.test(verbose)
    ? 1
    : /^(false|off)$/i.test(verbose)
      ? 0
      : parseInteger('log-verbose', verbose)
  return {
    verbose: Math.max(0, level),
    info: values.bool('log-info', true),
    warning: values.bool('log-warning', true),
    error: values.bool('log-error', true),
    format,
    file: values.text('log-file', ''),
    escape: !/^(0|false|off)$/i.test(env['TRITON_SERVER_ESCAPE_LOG_MESSAGES'] ?? ''),
  }
}

function parseRepository(values: Values, env: Environment) {
  const named = [...values.all('model-repository'), ...values.all('model-store')]
  const fallback = env['AIP_STORAGE_URI']
  const mode = values.text('model-control-mode', 'none').toLowerCase()
  if (mode !== 'none' && mode !== 'poll' && mode !== 'explicit') {
    throw new UsageError('model-control-mode', 'invalid argument for --model-control-mode')
  }
  const startupModels = [...new Set(values.all('load-model'))]
  checkStartupModels(startupModels, mode)
  if (values.has('model-config-name') && values.text('model-config-name', '') === '') {
    throw new UsageError('model-config-name', 'Error: empty argument for --model-config-name')
  }
  return {
    repositories: [...new Set(named.length === 0 && fallback ? [fallback] : named)].sort(),
    exitOnError: values.bool('exit-on-error', true),
    autoComplete: !values.has('disable-auto-complete-config') && !values.bool('strict-model-config', false),
    strictReadiness: values.bool('strict-readiness', true),
    controlMode: mode,
    pollSeconds: mode === 'poll' ? values.int('repository-poll-secs', 15) : 0,
    startupModels,
    modelConfigName: values.text('model-config-name', ''),
    loadThreads: Math.max(1, values.int('model-load-thread-count', 4)),
    loadRetries: Math.max(0, values.int('model-load-retry-count', 0)),
    namespacing: values.bool('model-namespacing', false),
  } as const
}

function checkStartupModels(models: readonly string[], mode: string): void {
  if (models.length === 0) return
  if (mode !== 'explicit') {
    throw new UsageError('', "Error: Use of '--load-model' requires setting '--model-control-mode=explicit' as well.")
  }
  if (models.includes('*') && models.length > 1) {
    throw new UsageError('load-model', "Wildcard model name '*' must be the ONLY startup model if specified at all.")
  }
}

function parseServing(values: Values, env: Environment) {
  const bytes = values.has('response-cache-byte-size') ? values.int('response-cache-byte-size', 0, 64) : undefined
  return {
    backendDirectory: values.text('backend-directory', '/opt/tritonserver/backends'),
    cache: parseCache({ config: values.all('cache-config'), bytes }, env),
    rateLimit: parseRateLimit(values.text('rate-limit', 'off')),
    rateLimitResources: parseResources(values.all('rate-limit-resource')),
  } as const
}

function parseHttp(values: Values, enabled: boolean): HttpOptions {
  const maxInputSize = values.int('http-max-input-size', 67_108_864, 64)
  if (maxInputSize <= 0)
    throw new UsageError('http-max-input-size', 'Error: --http-max-input-size must be greater than 0.')
  const clientErrors = values.text('http-client-errors', 'recorded')
  if (clientErrors !== 'recorded' && clientErrors !== '400') {
    throw new UsageError('http-client-errors', `expected "recorded" or "400". Got ${clientErrors}`)
  }
  return {
    enabled: values.bool('allow-http', enabled),
    address: values.text('http-address', '0.0.0.0'),
    port: values.int('http-port', 8000),
    reusePort: values.bool('reuse-http-port', false),
    forwardPattern: values.text('http-header-forward-pattern', ''),
    threads: Math.max(1, values.int('http-thread-count', 8)),
    maxInputSize,
    bodyMemory: parseBodyMemory(values),
    restricted: parseRestrictions('http-restricted-api', values.all('http-restricted-api'), 'api'),
    corsOrigins: values.all('http-cors-origin').map((origin) => origin.replace(/\/$/, '')),
    properClientErrors: clientErrors === '400',
    tls: parseTls(values, 'http'),
  }
}

function parseMetrics(values: Values, env: Environment): MetricsOptions {
  const enabled = values.bool('allow-metrics', true)
  const settings = values.all('metrics-config').map(parseMetricsSetting)
  return {
    enabled,
    address: values.text('metrics-address', defaultAddress(values)),
    port: values.int('metrics-port', 8002),
    cpu: enabled && values.bool('allow-cpu-metrics', true),
    gpu: enabled && values.bool('allow-gpu-metrics', true) && (env['TRITON_SERVER_CPU_ONLY'] ?? '') === '',
    intervalMs: parseFloating('metrics-interval-ms', values.text('metrics-interval-ms', '2000')),
    config: groupSettings(settings)[''] ?? {},
  }
}

function parseAccessLog(text: string): 'off' | 'text' | 'json' {
  if (text === 'off' || text === 'text' || text === 'json') return text
  throw new UsageError('access-log', `expected "off", "text" or "json". Got ${text}`)
}

/** Checks the form of settings that nothing reads yet. */
function checkLaterSettings(values: Values): void {
  for (const text of values.all('host-policy')) checkHostPolicy(text)
  for (const [flag, format] of PART_FLAGS) for (const text of values.all(flag)) checkParts(flag, text, format)
}

const PART_FLAGS = [
  ['cuda-memory-pool-byte-size', '<gpu>:<bytes>'],
  ['cuda-virtual-address-size', '<gpu>:<bytes>'],
  ['model-load-gpu-limit', '<gpu>:<fraction>'],
] as const

function listNotices(values: Values, flags: readonly Flag[]): readonly string[] {
  const notices: string[] = []
  for (const flag of flags) {
    const text = values.all(flag.name).at(-1)
    if (flag.idle === '' || text === undefined || isOff(flag, text)) continue
    notices.push(`--${flag.name}=${text} has no effect: ${flag.idle}.`)
  }
  return notices
}

/** Switching something off that does not exist needs no warning. */
function isOff(flag: Flag, text: string): boolean {
  return (
    (flag.kind === 'bool' && FALSY.test(text)) ||
    (flag.name === 'rate-limit' && text.toLowerCase() === 'off') ||
    text === '0'
  )
}
const FALSY = /^(false|off|0)$/i

/** The same, from the process's own environment. */
export function readServeOptions(args: readonly string[], command: 'serve' | 'up'): ServeOptions {
  return parseServeOptions(args, process.env, command)
}
