import { promisify } from 'node:util'
import { gunzip, inflate } from 'node:zlib'
import { ClientError } from '../error.ts'
import { tooLarge } from './fetch-transport.ts'
import { PieceQueue } from './piece-queue.ts'
import { SocketPool, type PoolOptions } from './socket-pool.ts'
import {
  joinParts,
  type HttpAnswer,
  type HttpHead,
  type HttpRequest,
  type HttpStream,
  type HttpTransport,
} from './transport.ts'

export interface SocketOptions extends PoolOptions {
  /** Larger answers are refused; default 2 GiB. */
  readonly maxAnswerBytes?: number | undefined
}

/** HTTP/1.1 over kept connections, for a fraction of what fetch and node:http cost (bench/transports.bench.ts). */
export class SocketTransport implements HttpTransport {
  readonly #pool: SocketPool
  readonly #limit: number

  constructor(url: string | URL, options: SocketOptions = {}) {
    this.#pool = new SocketPool(url, options)
    this.#limit = options.maxAnswerBytes ?? 2 ** 31 - 1
  }

  send(request: HttpRequest): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      let answer: HttpHead | undefined
      let size = 0
      const parts: Uint8Array[] = []
      const exchange = this.#pool.run(request, {
        head: (head) => (answer = head),
        body: (piece) => {
          size += piece.length
          if (size <= this.#limit) parts.push(piece)
          else {
            const error = new ClientError('RESOURCE_EXHAUSTED', tooLarge(this.#limit))
            reject(error)
            exchange.abort(error)
          }
        },
        end: () => {
          if (answer === undefined) return
          const coding = answer.header('content-encoding')
          const body = joinParts(parts)
          if (coding === undefined) resolve(new Answer(answer, body))
          else resolve(this.#expand(answer, coding, body))
        },
        failed: reject,
      })
    })
  }

  open(request: HttpRequest): Promise<HttpStream> {
    return new Promise((resolve, reject) => {
      const pieces = new PieceQueue({
        cancel: () => exchange.abort(new Error('the answer is not wanted any more')),
        pause: () => exchange.connection?.pause(),
        resume: () => exchange.connection?.resume(),
      })
      const exchange = this.#pool.run(request, {
        head: (head) => resolve({ status: head.status, header: (name) => head.header(name), body: pieces }),
        body: (piece) => pieces.push(piece),
        end: () => pieces.end(undefined),
        failed(error) {
          pieces.end(error)
          reject(error)
        },
      })
    })
  }

  close(): void {
    this.#pool.close()
  }

  async #expand(head: HttpHead, coding: string, body: Uint8Array): Promise<HttpAnswer> {
    if (coding === 'identity') return new Answer(head, body)
    if (coding !== 'gzip' && coding !== 'deflate')
      throw new ClientError('INTERNAL', `the answer is encoded as '${coding}'`)
    try {
      return new Answer(head, await EXPAND[coding](body, { maxOutputLength: this.#limit }))
    } catch (error) {
      const large = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
      if (large) throw new ClientError('RESOURCE_EXHAUSTED', tooLarge(this.#limit), { cause: error })
      throw new ClientError('INTERNAL', 'the answer cannot be decompressed', { cause: error })
    }
  }
}

const EXPAND = { gzip: promisify(gunzip), deflate: promisify(inflate) }

class Answer implements HttpAnswer {
  readonly status: number
  readonly body: Uint8Array
  readonly #head: HttpHead
  constructor(head: HttpHead, body: Uint8Array) {
    this.status = head.status
    this.body = body
    this.#head = head
  }
  header(name: string): string | undefined {
    return this.#head.header(name)
  }
}
