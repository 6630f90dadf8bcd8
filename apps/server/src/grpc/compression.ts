import { promisify } from 'node:util'
import { constants, deflate, gunzip, gunzipSync, gzip, inflate, inflateSync } from 'node:zlib'
import { GrpcError, STATUS } from './status.ts'

const COMPRESS = { gzip: promisify(gzip), deflate: promisify(deflate) }
const EXPAND = { gzip: promisify(gunzip), deflate: promisify(inflate) }
const EXPAND_NOW = { gzip: gunzipSync, deflate: inflateSync }

/** gRPC's `deflate` is zlib's format. */
export type Encoding = 'gzip' | 'deflate'
/** Compressed messages up to this many bytes are expanded at once; they cannot hold up others for long. */
export const QUICK = 1_024
/** Deflate makes at most this many bytes of one. */
export const MOST_INFLATION = 1032
const LEVELS = { low: 1, medium: 6, high: 9 } as const
export type CompressionLevel = keyof typeof LEVELS

/** Expands a message to at most `limit` bytes. */
export function expand(
  message: Uint8Array,
  encoding: string | undefined,
  limit: number,
): Uint8Array | Promise<Uint8Array> {
  const known = encoding === 'gzip' || encoding === 'deflate' ? encoding : undefined
  if (known === undefined) {
    const text = `a message is compressed and grpc-encoding is '${encoding ?? 'identity'}'; expected gzip or deflate`
    throw new GrpcError(
      encoding === undefined || encoding === 'identity' ? STATUS.INTERNAL : STATUS.UNIMPLEMENTED,
      text,
    )
  }
  const options = { maxOutputLength: limit }
  if (message.length > QUICK) return EXPAND[known](message, options).catch((error: unknown) => explain(error, limit))
  try {
    return EXPAND_NOW[known](message, options)
  } catch (error) {
    return explain(error, limit)
  }
}

function explain(error: unknown, limit: number): never {
  if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') {
    throw new GrpcError(STATUS.RESOURCE_EXHAUSTED, `Received message larger than max (over ${limit} when decompressed)`)
  }
  throw new GrpcError(
    STATUS.INTERNAL,
    `a message cannot be decompressed: ${error instanceof Error ? error.message : String(error)}`,
  )
}

/** Which encoding a response may have: one that the client takes, gzip before deflate. */
export function chooseEncoding(accepted: string | undefined): Encoding | undefined {
  const names = (accepted ?? '').split(',').map((name) => name.trim())
  return names.includes('gzip') ? 'gzip' : names.includes('deflate') ? 'deflate' : undefined
}

export async function compress(message: Uint8Array, encoding: Encoding, level: CompressionLevel): Promise<Uint8Array> {
  return COMPRESS[encoding](message, { level: LEVELS[level], strategy: constants.Z_DEFAULT_STRATEGY })
}
