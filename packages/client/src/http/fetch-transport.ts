import { ClientError } from '../error.ts'
import {
  type HttpAnswer,
  type HttpHead,
  type HttpRequest,
  type HttpStream,
  type HttpTransport,
  joinParts,
} from './transport.ts'

/** By fetch: in browsers and wherever else there is one. It undoes Content-Encoding itself. */
export class FetchTransport implements HttpTransport {
  readonly #origin: string
  readonly #maxAnswerBytes: number
  readonly #closed = new AbortController()

  constructor(origin: string, maxAnswerBytes: number) {
    this.#origin = origin
    this.#maxAnswerBytes = maxAnswerBytes
  }

  async send(request: HttpRequest): Promise<HttpAnswer> {
    const response = await this.#fetch(request)
    const parts: Uint8Array[] = []
    let size = 0
    for await (const part of iterate(response)) {
      size += part.length
      if (size > this.#maxAnswerBytes) throw new ClientError('RESOURCE_EXHAUSTED', tooLarge(this.#maxAnswerBytes))
      parts.push(part)
    }
    return { ...readHead(response), body: joinParts(parts) }
  }

  async open(request: HttpRequest): Promise<HttpStream> {
    const response = await this.#fetch(request)
    return { ...readHead(response), body: iterate(response) }
  }

  close(): void {
    this.#closed.abort()
  }

  #fetch({ method, path, headers, body, signal }: HttpRequest): Promise<Response> {
    const { signal: closed } = this.#closed
    return fetch(this.#origin + path, {
      method,
      headers: { 'accept-encoding': 'identity', ...headers },
      ...(method === 'POST' ? { body: joinParts(body) as Uint8Array<ArrayBuffer> } : undefined),
      signal: signal === undefined ? closed : AbortSignal.any([signal, closed]),
    })
  }
}

export function tooLarge(limit: number): string {
  return `the answer has more than ${limit} bytes`
}

function readHead({ status, headers }: Response): HttpHead {
  return { status, header: (name) => headers.get(name) ?? undefined }
}

async function* iterate({ body }: Response): AsyncGenerator<Uint8Array, void> {
  if (body === null) return
  const reader = (body as ReadableStream<Uint8Array>).getReader()
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value
  } finally {
    // Not waited for: what is left is of no interest, nor is how its end goes.
    reader.cancel().catch(() => undefined)
  }
}
