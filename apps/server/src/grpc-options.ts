import { parseBodyMemory } from './option-values.ts'
import type { Values } from './option-values.ts'
import type { PingPolicy } from './grpc/http2/ping-rules.ts'
import { UsageError } from './command-line.ts'
import { checkGrpc, parseRestrictions } from './settings.ts'
import type { ApiGroup, Restriction } from './settings.ts'
import { parseTls } from './tls.ts'
import type { TlsFiles } from './tls.ts'

export interface GrpcOptions {
  readonly enabled: boolean
  readonly address: string
  readonly port: number
  readonly reusePort: boolean
  /** RE2-like expression; '' = nothing is forwarded. */
  readonly forwardPattern: string
  /** Superset: bytes that all request bodies in flight may take together, those of HTTP included. */
  readonly bodyMemory: number
  readonly restricted: ReadonlyMap<ApiGroup, Restriction>
  /** Of the answers of inferences; undefined = none. */
  readonly compression: 'low' | 'medium' | 'high' | undefined
  /** Undefined = plain HTTP/2. */
  readonly tls: TlsFiles | undefined
  readonly pings: PingPolicy
  /** Superset: answers server reflection. */
  readonly reflection: boolean
  readonly maxAgeMs: number | undefined
  readonly maxAgeGraceMs: number | undefined
}

export function parseGrpc(values: Values, enabled: boolean): GrpcOptions {
  const level = values.text('grpc-infer-response-compression-level', 'none')
  checkGrpc(values.int('grpc-infer-thread-count', 2), level)
  if (values.int('grpc-max-response-pool-size', 1) <= 0) {
    throw new UsageError('grpc-max-response-pool-size', 'Error: --grpc-max-response-pool-size must be greater than 0.')
  }
  const age = (flag: string) => (values.has(flag) ? values.int(flag, 0) : undefined)
  return {
    enabled: values.bool('allow-grpc', enabled),
    address: values.text('grpc-address', '0.0.0.0'),
    port: values.int('grpc-port', 8001),
    reusePort: values.bool('reuse-grpc-port', false),
    forwardPattern: values.text('grpc-header-forward-pattern', ''),
    bodyMemory: parseBodyMemory(values),
    restricted: parseRestrictions('grpc-restricted-protocol', values.all('grpc-restricted-protocol'), 'protocol'),
    compression: level === 'low' || level === 'medium' || level === 'high' ? level : undefined,
    tls: parseTls(values, 'grpc'),
    pings: {
      time: values.int('grpc-keepalive-time', 7_200_000),
      timeout: values.int('grpc-keepalive-timeout', 20_000),
      withoutCalls: values.bool('grpc-keepalive-permit-without-calls', false),
      leastInterval: values.int('grpc-http2-min-recv-ping-interval-without-data', 300_000),
      strikes: values.int('grpc-http2-max-ping-strikes', 2),
      withoutData: values.int('grpc-http2-max-pings-without-data', 2),
    },
    reflection: values.bool('grpc-reflection', false),
    maxAgeMs: age('grpc-max-connection-age'),
    maxAgeGraceMs: age('grpc-max-connection-age-grace'),
  }
}
