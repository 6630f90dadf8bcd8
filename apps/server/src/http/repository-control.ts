import { ConchError } from '@conch/protocol'
import type { IndexEntry, LoadOverride } from '@conch/engine'
import type { Exchange } from './exchange.ts'
import type { JsonObject } from './read-json.ts'
import { isObject, readJsonObject, wrongKind } from './read-json.ts'
import { sendEmpty, sendJson } from './reply.ts'

/** `POST /v2/repository/index` (reference: http §5.1). */
export async function answerIndex(exchange: Exchange): Promise<void> {
  const body = await readJsonObject(exchange)
  const ready = body?.['ready']
  if (ready !== undefined && typeof ready !== 'boolean') {
    throw new ConchError('INVALID_ARG', "Invalid value for 'ready': expected a boolean")
  }
  const entries = await exchange.face.engine.index(ready === true)
  sendJson(exchange, entries.map(showEntry))
}

function showEntry({ name, version, state, reason }: IndexEntry): IndexEntry | object {
  return {
    name,
    ...(version === undefined ? {} : { version }),
    ...(state === undefined ? {} : { state }),
    ...(reason === '' ? {} : { reason }),
  }
}

/** `POST …/models/{name}/load`: answers when the model serves (reference: http §5.2). */
export async function answerLoad(exchange: Exchange): Promise<void> {
  checkScope(exchange)
  const body = await readJsonObject(exchange)
  await exchange.face.engine.load(exchange.model, body === undefined ? undefined : readOverride(body))
  sendEmpty(exchange, 200, 'application/json')
}

/** `POST …/models/{name}/unload`: answers when the unload has begun. A wrong-typed `unload_dependents` counts as false, as recorded. */
export async function answerUnload(exchange: Exchange): Promise<void> {
  checkScope(exchange)
  const parameters = (await readJsonObject(exchange))?.['parameters']
  const dependents = isObject(parameters) && parameters['unload_dependents'] === true
  await exchange.face.engine.unload(exchange.model, dependents)
  sendEmpty(exchange, 200, 'application/json')
}

function checkScope(exchange: Exchange): void {
  if (exchange.scope !== '') throw new ConchError('UNSUPPORTED', "'repository_name' specification is not supported")
}

function readOverride(body: JsonObject): LoadOverride | undefined {
  const parameters = body['parameters']
  if (parameters === undefined) return undefined
  if (!isObject(parameters)) throw new ConchError('INTERNAL', 'attempt to get members for non-object')
  let config: string | undefined
  const files = new Map<string, Uint8Array>()
  for (const [key, value] of Object.entries(parameters)) {
    if (typeof value !== 'string') throw wrongKind('string')
    if (key === 'config') config = value
    else if (key.startsWith('file:')) files.set(key.slice('file:'.length), Buffer.from(value, 'base64'))
    else throw new ConchError('INTERNAL', 'unexpected error on creating Triton parameter')
  }
  if (config === undefined && files.size === 0) return undefined
  return { config, files }
}
