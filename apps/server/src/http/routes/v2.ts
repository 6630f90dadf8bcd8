import type { Exchange } from '../exchange.ts'
import { answerGenerate, answerGenerateStream } from '../generate.ts'
import { answerInfer } from '../infer.ts'
import { answerLogging } from '../log-settings.ts'
import { answerModelConfig, answerModelMetadata, answerStatistics } from '../model-facts.ts'
import { answerIndex, answerLoad, answerUnload } from '../repository-control.ts'
import { answerLive, answerModelReady, answerReady, answerServerMetadata } from '../server-facts.ts'
import {
  answerCudaRegister,
  answerCudaStatus,
  answerCudaUnregister,
  answerSystemRegister,
  answerSystemStatus,
  answerSystemUnregister,
} from '../shared-memory.ts'
import { answerTrace } from '../trace-settings.ts'
import type { Route } from './route.ts'

const GET = ['GET']
const POST = ['POST']
const BOTH = ['GET', 'POST']
const json = 'application/json'
const plain = 'text/plain'

/** The whole URL space. Paths are compared as they came: no decoding, no case folding, no trailing slash. */
const FIXED = new Map<string, Route<Exchange>>([
  ['/v2', { methods: GET, group: 'metadata', errors: json, answer: answerServerMetadata }],
  ['/v2/health/live', { methods: GET, group: 'health', errors: plain, answer: answerLive }],
  ['/v2/health/ready', { methods: GET, group: 'health', errors: plain, answer: answerReady }],
  ['/v2/models/stats', { methods: GET, group: 'statistics', errors: json, answer: answerStatistics }],
  ['/v2/logging', { methods: BOTH, group: 'logging', errors: json, answer: answerLogging }],
  ['/v2/trace/setting', { methods: BOTH, group: 'trace', errors: json, answer: answerTrace }],
])

/** Below `/v2/models/{name}[/versions/{version}]`. */
const OF_MODEL = new Map<string, Route<Exchange>>([
  ['', { methods: GET, group: 'metadata', errors: json, answer: answerModelMetadata }],
  ['/ready', { methods: GET, group: 'health', errors: plain, answer: answerModelReady }],
  ['/infer', { methods: POST, group: 'inference', errors: plain, answer: answerInfer }],
  ['/generate', { methods: POST, group: 'inference', errors: json, answer: answerGenerate }],
  ['/generate_stream', { methods: POST, group: 'inference', errors: json, answer: answerGenerateStream }],
  ['/config', { methods: GET, group: 'model-config', errors: json, answer: answerModelConfig }],
  ['/stats', { methods: GET, group: 'statistics', errors: json, answer: answerStatistics }],
  ['/trace/setting', { methods: BOTH, group: 'trace', errors: json, answer: answerTrace }],
])

/** Below `/v2/repository[/{repository}]`; what follows the model's name for load and unload. */
const OF_REPOSITORY = new Map<string, Route<Exchange>>([
  ['index', { methods: POST, group: 'model-repository', errors: json, answer: answerIndex }],
  ['load', { methods: POST, group: 'model-repository', errors: json, answer: answerLoad }],
  ['unload', { methods: POST, group: 'model-repository', errors: json, answer: answerUnload }],
])

/** `/v2/{kind}sharedmemory[/region/{region}]/{verb}`, by kind and verb. */
const OF_MEMORY = new Map<string, Route<Exchange>>([
  ['system/status', { methods: GET, group: 'shared-memory', errors: json, answer: answerSystemStatus }],
  ['system/register', { methods: POST, group: 'shared-memory', errors: json, answer: answerSystemRegister }],
  ['system/unregister', { methods: POST, group: 'shared-memory', errors: json, answer: answerSystemUnregister }],
  ['cuda/status', { methods: GET, group: 'shared-memory', errors: json, answer: answerCudaStatus }],
  ['cuda/register', { methods: POST, group: 'shared-memory', errors: json, answer: answerCudaRegister }],
  ['cuda/unregister', { methods: POST, group: 'shared-memory', errors: json, answer: answerCudaUnregister }],
])

const MODELS = '/v2/models/'
const VERSION = /^\/versions\/([0-9]+)(?=\/|$)/
const LABEL = /^\/versions\/([A-Za-z_][A-Za-z0-9_.-]{0,62})(?=\/|$)/
/** Versions are numbers there: `01` is 1. */
const LEADING_ZEROS = /^0+(?=[0-9])/
const REPOSITORY = /^\/v2\/repository(?:\/([^/]+))?\/(?:(index)|models\/([^/]+)\/(load|unload))$/
const MEMORY = /^\/v2\/(system|cuda)sharedmemory(?:\/region\/([^/]+))?\/(status|register|unregister)$/

/** Finds the route of a path and puts the parts that the path names on the exchange. */
export function findRoute(exchange: Exchange): Route<Exchange> | undefined {
  const { path } = exchange
  const fixed = FIXED.get(path)
  if (fixed) return fixed
  if (path.startsWith(MODELS)) return findModelRoute(exchange)
  const repository = REPOSITORY.exec(path)
  if (repository) {
    exchange.scope = repository[1] ?? ''
    exchange.model = repository[3] ?? ''
    return OF_REPOSITORY.get(repository[2] ?? repository[4] ?? '')
  }
  const memory = MEMORY.exec(path)
  exchange.scope = memory?.[2] ?? ''
  return memory ? OF_MEMORY.get(`${memory[1]}/${memory[3]}`) : undefined
}

function findModelRoute(exchange: Exchange): Route<Exchange> | undefined {
  const { path } = exchange
  const slash = path.indexOf('/', MODELS.length)
  const end = slash < 0 ? path.length : slash
  if (end === MODELS.length) return undefined
  exchange.model = path.slice(MODELS.length, end)
  const rest = path.slice(end)
  const plainRoute = OF_MODEL.get(rest)
  if (plainRoute) return plainRoute
  const version = VERSION.exec(rest)
  if (!version) return findLabelRoute(exchange, rest)
  exchange.version = (version[1] ?? '').replace(LEADING_ZEROS, '')
  return findVersionRoute(rest.slice(version[0].length))
}

function findVersionRoute(tail: string): Route<Exchange> | undefined {
  return tail === '/trace/setting' ? undefined : OF_MODEL.get(tail)
}

/** Superset: a label that the model has (docs/traffic.md) stands for its version; any other path is unknown, as ever. */
function findLabelRoute(exchange: Exchange, rest: string): Route<Exchange> | undefined {
  const label = LABEL.exec(rest)
  if (!label) return undefined
  const version = exchange.face.engine.findLabel(exchange.model, label[1] ?? '')
  if (version === undefined) return undefined
  exchange.version = version
  return findVersionRoute(rest.slice(label[0].length))
}
