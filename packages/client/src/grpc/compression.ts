import { promisify } from 'node:util'
import { deflate, gunzip, gzip, inflate } from 'node:zlib'
import type { Compression } from '../call-options.ts'
import { ClientError } from '../error.ts'

const COMPRESS = { gzip: promisify(gzip), deflate: promisify(deflate) }
const EXPAND = { gzip: promisify(gunzip), deflate: promisify(inflate) }

export function compressMessage(message: Uint8Array, compression: Compression): Promise<Uint8Array> {
  return COMPRESS[compression](message)
}

/** Expands a message to at most `limit` bytes. */
export async function expandMessage(message: Uint8Array, encoding: string, limit: number): Promise<Uint8Array> {
  if (encoding !== 'gzip' && encoding !== 'deflate')
    throw new ClientError('INTERNAL', `the answer is compressed with '${encoding}', which was not asked for`)
  try {
    return await EXPAND[encoding](message, { maxOutputLength: limit })
  } catch (error) {
    const large = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
    if (large)
      throw new ClientError('RESOURCE_EXHAUSTED', `Received message larger than max (over ${limit} when decompressed)`)
    throw new ClientError('INTERNAL', 'the answer cannot be decompressed', { cause: error })
  }
}
