import { ConchError } from '@conch/protocol'
import type { Exchange } from '../exchange.ts'
import { findHeader } from '../headers.ts'
import type { Route } from './route.ts'

/**
 * On a platform the size of the JSON part is told by the content type, and nothing is compressed (reference: cloud §A.1, §B):
 * puts it where routes look for it. Throws the original's texts.
 */
export function readPlatformHeaders(exchange: Exchange, prefix: string): void {
  const { headers } = exchange
  headers.contentEncoding = undefined
  headers.acceptEncoding = undefined
  headers.inferenceLength = readSize(findHeader(exchange.req.rawHeaders, 'content-type') ?? '', prefix)
}

function readSize(type: string, prefix: string): string | undefined {
  const at = type.indexOf(prefix)
  if (at < 0) return undefined
  if (at > 0) {
    throw new ConchError('INVALID_ARG', `expect MIME type for binary data starts with '${prefix}', got: ${type}`)
  }
  const text = type.slice(prefix.length)
  const number = /^\s*([+-]?\d+)/.exec(text)?.[1]
  if (number === undefined) throw new ConchError('INVALID_ARG', `Unable to parse inference header size, got: ${text}`)
  if (Math.abs(Number(number)) >= 2 ** 31) {
    throw new ConchError('INVALID_ARG', `Unable to parse inference header size, value is out of range, got: ${text}`)
  }
  return String(Number(number))
}

/** A route that runs one model, with the platform's headers. */
export function routeModel(model: string, prefix: string, answer: Route<Exchange>['answer']): Route<Exchange> {
  return {
    methods: ['POST'],
    group: 'inference',
    errors: 'text/plain',
    answer: (exchange) => {
      exchange.model = model
      readPlatformHeaders(exchange, prefix)
      return answer(exchange)
    },
  }
}
