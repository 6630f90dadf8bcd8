import { UsageError } from '../command-line.ts'
import type { Environment } from '../option-values.ts'

/** Where spans go, and how many at a time. */
export interface CollectorOptions {
  readonly url: string
  /** Attributes of the resource; the last one of a name counts. */
  readonly resource: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  /** Of one export, milliseconds. */
  readonly timeoutMs: number
  /** Spans that may wait; more are dropped and counted. */
  readonly queueSize: number
  readonly delayMs: number
  readonly batchSize: number
}

const URL_PATH = '/v1/traces'

/** Command line, then environment, then default (reference: trace-logging §3). Unknown settings are ignored. */
export function parseCollector(given: (name: string) => readonly string[], env: Environment): CollectorOptions {
  const number = (name: string, variable: string, fallback: number) =>
    parseNumber(name, given(name).at(-1) ?? (env[variable] || undefined), fallback)
  const batchSize = number('bsp_max_export_batch_size', 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512)
  const queueSize = number('bsp_max_queue_size', 'OTEL_BSP_MAX_QUEUE_SIZE', 2048)
  return {
    url: parseUrl(given('url').at(-1) ?? readEndpoint(env)),
    resource: {
      'service.name': env['OTEL_SERVICE_NAME'] || 'triton-inference-server',
      ...readPairs(env['OTEL_RESOURCE_ATTRIBUTES']),
      ...Object.fromEntries(given('resource').map(parseAttribute)),
    },
    headers: readPairs(env['OTEL_EXPORTER_OTLP_TRACES_HEADERS'] || env['OTEL_EXPORTER_OTLP_HEADERS']),
    timeoutMs: readTimeout(env),
    queueSize,
    delayMs: number('bsp_schedule_delay', 'OTEL_BSP_SCHEDULE_DELAY', 5_000),
    batchSize: Math.min(batchSize, queueSize),
  }
}

function readEndpoint(env: Environment): string {
  const own = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']
  if (own) return own
  const base = env['OTEL_EXPORTER_OTLP_ENDPOINT'] || 'http://localhost:4318'
  return base.replace(/\/$/, '') + URL_PATH
}

/** As in the original a URL may lack its scheme. */
function parseUrl(text: string): string {
  const whole = text.includes('://') ? text : `http://${text}`
  if (URL.canParse(whole) && /^https?:/.test(whole)) return whole
  throw new UsageError('trace-config', `invalid url of an OpenTelemetry collector: ${text}`)
}

function parseAttribute(text: string): [string, string] {
  const equals = text.indexOf('=')
  if (equals > 0) return [text.slice(0, equals), text.slice(equals + 1)]
  throw new UsageError(
    'trace-config',
    `--trace-config opentelemetry,resource option format is 'resource=<key>=<value>'. Got ${text}`,
  )
}

function parseNumber(name: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback
  const value = /^\s*\d+/.test(text) ? Number.parseInt(text, 10) : 0
  if (value > 0 && value < 2 ** 31) return value
  throw new UsageError('trace-config', `invalid value of ${name}: ${text}. Expecting an integer > 0`)
}

const TIMEOUT_MS = 10_000

function readTimeout(env: Environment): number {
  const value = Number(env['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT'] || env['OTEL_EXPORTER_OTLP_TIMEOUT'] || TIMEOUT_MS)
  return value > 0 && value < 2 ** 31 ? value : TIMEOUT_MS
}

/** `key=value,key=value` with percent encoding, as OpenTelemetry's variables are written; what is malformed is left out. */
function readPairs(text: string | undefined): Record<string, string> {
  const pairs: [string, string][] = []
  for (const part of (text ?? '').split(',')) {
    const equals = part.indexOf('=')
    if (equals <= 0) continue
    pairs.push([part.slice(0, equals).trim(), decode(part.slice(equals + 1).trim())])
  }
  return Object.fromEntries(pairs)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
