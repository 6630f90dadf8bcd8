import { encodeHeaders } from '@conch/protocol'
import { ClientError } from '../error.ts'
import type { Channel } from './channel.ts'
import type { RpcOptions } from '../call-options.ts'

/** Header blocks that were encoded before: calls without headers of their own begin alike. */
const known = new Map<string, Uint8Array>()
const MOST_KNOWN = 200

/** The header block that begins a call. */
export function encodeHead(channel: Channel, method: string, options: RpcOptions): Uint8Array {
  const { headers, timeoutMs, requestCompression } = options
  const plain = headers === undefined && timeoutMs === undefined
  const key = plain ? `${channel.scheme} ${channel.authority} ${method} ${requestCompression ?? ''}` : ''
  const before = plain ? known.get(key) : undefined
  if (before !== undefined) return before
  const block = encodeHeaders([
    ':method',
    'POST',
    ':scheme',
    channel.scheme,
    ':path',
    method,
    ':authority',
    channel.authority,
    ...FIXED,
    ...(requestCompression === undefined ? [] : ['grpc-encoding', requestCompression]),
    ...(timeoutMs === undefined ? [] : ['grpc-timeout', formatTimeout(timeoutMs)]),
    ...Object.entries(headers ?? {}).flatMap(([name, value]) => checkHeader(name.toLowerCase(), value)),
  ])
  if (block.length > MOST_BYTES) throw new ClientError('INVALID_ARG', `the headers have more than ${MOST_BYTES} bytes`)
  if (plain && known.size < MOST_KNOWN) known.set(key, block)
  return block
}

const FIXED = Object.entries({
  'content-type': 'application/grpc',
  te: 'trailers',
  'user-agent': 'grpc-conch/0.1.0',
  'grpc-accept-encoding': 'identity,deflate,gzip',
}).flat()
/** One frame has to hold them. */
const MOST_BYTES = 16_384

/** At most eight digits and a unit. */
function formatTimeout(ms: number): string {
  if (ms < 1e5)
    return `${Math.max(0, Math.round(ms * 1_000))
      .toString()
      .slice(0, 8)}u`
  return ms < 1e8 ? `${Math.round(ms)}m` : `${Math.min(Math.round(ms / 1_000), 99_999_999)}S`
}

function checkHeader(name: string, value: string): [string, string] {
  if (/^[0-9a-z_.-]+$/.test(name) && /^[\x20-\x7e]*$/.test(value)) return [name, value]
  throw new ClientError('INVALID_ARG', `metadata '${name}' is not plain ASCII, which gRPC asks for`)
}
