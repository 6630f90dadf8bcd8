import type { Exchange } from '../exchange.ts'
import { findHeader } from '../headers.ts'
import { answerInfer } from '../infer.ts'
import { send, sendEmpty } from '../reply.ts'
import { answerReady } from '../server-facts.ts'
import { readPlatformHeaders, routeModel } from './binary-type.ts'
import type { Door, Route } from './route.ts'
import { findRoute } from './v2.ts'

const BINARY = 'application/vnd.vertex-ai-triton.binary+json;json-header-size='

export interface VertexOptions {
  /** Regular expressions that must match a whole path, as the platform gives them. */
  readonly predictRoute: string
  readonly healthRoute: string
  readonly defaultModel: string
}

/** Vertex AI's URLs (reference: cloud §B). */
export function createVertexDoor(options: VertexOptions): Door<Exchange> {
  const predict = new RegExp(`^(?:${options.predictRoute})$`)
  const health = new RegExp(`^(?:${options.healthRoute})$`)
  const healthRoute: Route<Exchange> = { methods: ['GET'], group: 'health', errors: 'text/plain', answer: answerReady }
  return {
    unknown: { status: 400, text: '' },
    find: (exchange) => {
      if (health.test(exchange.path)) return healthRoute
      return predict.test(exchange.path) ? findPredict(exchange, options.defaultModel) : undefined
    },
  }
}

function findPredict(exchange: Exchange, defaultModel: string): Route<Exchange> | undefined {
  const redirect = findHeader(exchange.req.rawHeaders, 'x-vertex-ai-triton-redirect')
  if (redirect !== undefined) return exchange.req.method === 'POST' ? findRedirect(exchange, redirect) : REFUSE_405
  return routeModel(defaultModel, BINARY, answerInfer)
}

const POST = ['POST']
const REFUSE_405: Route<Exchange> = { methods: [], group: 'inference', errors: 'text/plain', answer: () => undefined }
const FORBIDDEN =
  /^v2\/(repository\/models\/[^/]+\/(un)?load|(system|cuda)sharedmemory(\/region\/[^/]+)?\/(un)?register)$/
const ALLOWED =
  /^v2($|\/health\/(live|ready)$|\/models\/stats$|\/models\/[^/]+(\/versions\/\d+)?(\/(stats|ready|config|infer))?$|\/(system|cuda)sharedmemory(\/region\/[^/]+)?\/status$|\/repository\/index$)/

/** Answers as if the request were for the path in the header; what would change the server is forbidden. */
function findRedirect(exchange: Exchange, path: string): Route<Exchange> | undefined {
  if (path === 'metrics') return { methods: POST, group: 'metadata', errors: 'text/plain', answer: answerMetrics }
  if (FORBIDDEN.test(path))
    return {
      methods: POST,
      group: 'inference',
      errors: 'text/plain',
      answer: (one) => sendEmpty(one, 403, 'text/plain'),
    }
  if (!ALLOWED.test(path)) return undefined
  exchange.path = `/${path}`
  const route = findRoute(exchange)
  if (route === undefined) return undefined
  return {
    ...route,
    methods: POST,
    answer: (one) => {
      readPlatformHeaders(one, BINARY)
      return route.answer(one)
    },
  }
}

async function answerMetrics(exchange: Exchange): Promise<void> {
  send(exchange, 200, { type: 'text/plain', parts: [Buffer.from(await exchange.face.engine.metricsText())] })
}
