import type { Exchange } from '../exchange.ts'
import { answerGenerate, answerGenerateStream } from '../generate.ts'
import { answerInfer } from '../infer.ts'
import { findHeader } from '../headers.ts'
import { sendEmpty } from '../reply.ts'
import { answerLive, answerReady } from '../server-facts.ts'
import { readPlatformHeaders, routeModel } from './binary-type.ts'
import { MultiModel } from './multi-model.ts'
import { isOutOfMemory } from './out-of-memory.ts'
import type { Door, Route } from './route.ts'

const BINARY = 'application/vnd.sagemaker-triton.binary+json;json-header-size='
const MODELS = /^\/models(?:\/)?([^/]+)?(\/invoke)?$/

export interface SageMakerOptions {
  readonly pingMode: 'ready' | 'live'
  readonly defaultModel: string
  readonly inferenceType: 'infer' | 'generate' | 'generate_stream'
  /** Models that are loaded by URL must lie below this directory. */
  readonly modelsRoot: string
}

/** SageMaker's URLs (reference: cloud §A). */
export function createSageMakerDoor(options: SageMakerOptions): Door<Exchange> {
  const models = new MultiModel(options.modelsRoot)
  const ping: Route<Exchange> = {
    methods: ['GET'],
    group: 'health',
    errors: 'text/plain',
    answer: options.pingMode === 'live' ? answerLive : answerReady,
  }
  const invocations = routeModel(options.defaultModel, BINARY, ANSWERS[options.inferenceType])
  return {
    binaryType: BINARY,
    modelErrorStatus: (message) => (isOutOfMemory(message) ? 507 : 400),
    unknown: { status: 400, text: '' },
    find: (exchange) => {
      if (exchange.path === '/ping') return ping
      if (exchange.path === '/invocations') return invocations
      const match = MODELS.exec(exchange.path)
      return match === null
        ? undefined
        : findModelRoute(models, exchange, { name: match[1] ?? '', action: match[2] ?? '' })
    },
  }
}

const ANSWERS = { infer: answerInfer, generate: answerGenerate, generate_stream: answerGenerateStream } as const

function findModelRoute(
  models: MultiModel,
  exchange: Exchange,
  { name, action }: { name: string; action: string },
): Route<Exchange> | undefined {
  const { method } = exchange.req
  if (action === '/invoke')
    return { methods: ['POST'], group: 'inference', errors: 'text/plain', answer: (one) => invoke(models, one, name) }
  const answer = findManagement(models, method ?? '', name)
  return answer && { methods: [method ?? ''], group: 'model-repository', errors: 'text/plain', answer }
}

function findManagement(models: MultiModel, method: string, name: string): Route<Exchange>['answer'] | undefined {
  if (method === 'GET')
    return name === '' ? (exchange) => models.list(exchange) : (exchange) => models.describe(exchange, name)
  if (method === 'POST' && name === '') return (exchange) => models.load(exchange)
  if (method === 'DELETE' && name !== '') return (exchange) => models.unload(exchange, name)
  return undefined
}

async function invoke(models: MultiModel, exchange: Exchange, name: string): Promise<void> {
  if (!models.has(name)) return sendEmpty(exchange, 404, 'text/plain')
  exchange.model = findHeader(exchange.req.rawHeaders, 'x-amzn-sagemaker-target-model') ?? name
  readPlatformHeaders(exchange, BINARY)
  await answerInfer(exchange)
}
