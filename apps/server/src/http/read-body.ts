import { promisify } from 'node:util'
import type { Transform } from 'node:stream'
import { createGunzip, createInflate, deflate, gzip } from 'node:zlib'
import { ConchError } from '@conch/protocol'
import { BodyCollector, tooLarge } from './body.ts'
import type { Exchange } from './exchange.ts'
import { readLength } from './headers.ts'
import type { ResponseEncoding } from './headers.ts'
import { LIMITS } from './limits.ts'

/**
 * Reads the whole body of a request. A body that is announced to be too large is refused before a byte of it is read.
 */
export function readBody(exchange: Exchange, limit: number = LIMITS.bodyBytes): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const { req, res, headers, connection } = exchange
    const announced = headers.transferEncoding === undefined ? readLength(headers.contentLength ?? '') : -1
    const refuse = (error: ConchError) => {
      // What comes of a body beyond a limit is not worth reading: the connection ends after the answer.
      res.shouldKeepAlive = false
      reject(error)
    }
    if (announced > limit) return reject(tooLarge(limit))
    if (exchange.expectsContinue) {
      res.writeContinue()
      exchange.expectsContinue = false
    }
    const head = headers.inferenceLength === undefined ? 0 : readLength(headers.inferenceLength)
    const collector = new BodyCollector({ announced, limit, head, holder: exchange }, (error, body) => {
      connection.reading = undefined
      if (error) refuse(error)
      else resolve(body)
    })
    connection.reading = collector
    req.sink = collector
  })
}

/** Whether a `Content-Encoding` is one that `decodeBody` undoes. */
export function isSupported(encoding: string | undefined): boolean {
  return isPlain(encoding) || encoding === 'gzip' || encoding === 'deflate'
}

function isPlain(encoding: string | undefined): boolean {
  return encoding === undefined || encoding === '' || encoding === 'identity'
}

/** Undoes a supported `Content-Encoding` (reference: http §6.2). */
export function decodeBody(exchange: Exchange, body: Buffer): Buffer | Promise<Buffer> {
  if (isPlain(exchange.headers.contentEncoding)) return body
  if (body.length === 0) throw new ConchError('INVALID_ARG', 'nothing to be decompressed')
  return inflateWithin(exchange, body)
}

/** Waits until the body cannot exceed what all inflated bodies may take; its share is free again once it is answered. */
async function inflateWithin({ face, res }: Exchange, body: Buffer): Promise<Buffer> {
  const limit = face.options.maxInputSize
  const most = Math.min(body.length * MOST_INFLATION, limit)
  await face.inflating.take(most)
  let taken = most
  const giveBack = () => {
    face.inflating.giveBack(taken)
    taken = 0
  }
  try {
    if (res.closed) throw new ConchError('CANCELLED', '')
    res.once('close', giveBack)
    const inflated = await inflate(body, limit)
    if (taken > 0) {
      face.inflating.giveBack(taken - inflated.length)
      taken = inflated.length
    }
    return inflated
  } catch (error) {
    giveBack()
    throw error
  }
}

/** Deflate makes at most this many bytes of one. */
const MOST_INFLATION = 1032

/** Either format under either name, as the original's decoder; stops at the limit instead of inflating beyond it. */
function inflate(body: Buffer, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const isGzip = body[0] === 0x1f && body[1] === 0x8b
    const decoder: Transform = isGzip ? createGunzip() : createInflate()
    const pieces: Buffer[] = []
    let size = 0
    decoder.on('data', (piece: Buffer) => {
      size += piece.length
      if (size > limit) {
        decoder.destroy()
        reject(
          new ConchError(
            'INVALID_ARG',
            `Decompressed data size exceeds the maximum allowed value of ${limit} bytes. Use --http-max-input-size to increase the limit.`,
          ),
        )
      } else pieces.push(piece)
    })
    decoder.on('end', () => resolve(Buffer.concat(pieces, size)))
    decoder.on('error', (cause) =>
      reject(new ConchError('INVALID_ARG', `failed to decompress the request body: ${cause.message}`, { cause })),
    )
    decoder.end(body)
  })
}

const asyncGzip = promisify(gzip)
const asyncDeflate = promisify(deflate)

/** Compresses a whole body on the thread pool. */
export function encodeBody(body: Uint8Array, encoding: Exclude<ResponseEncoding, 'identity'>): Promise<Buffer> {
  return encoding === 'gzip' ? asyncGzip(body) : asyncDeflate(body)
}
