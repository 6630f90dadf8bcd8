import { ConchError } from '@conch/protocol'
import type { JsonValue } from '@conch/protocol'
import type { Exchange, Face } from './exchange.ts'
import type { JsonObject } from './read-json.ts'
import { requireJsonObject, wrongKind } from './read-json.ts'
import { sendJson } from './reply.ts'
import { NUMBERS, readTraceLevels, readTraceNumber, refuseFile } from '../tracing/read-change.ts'
import type { NumberName } from '../tracing/read-change.ts'
import type { TraceChange } from '../tracing/trace-settings.ts'

/** `/v2/trace/setting` and `/v2/models/{name}/trace/setting`. */
export async function answerTrace(exchange: Exchange): Promise<void> {
  const { model, face } = exchange
  if (model !== '' && !isServed(face, model))
    throw new ConchError('INVALID_ARG', `Request for unknown model : ${model}`)
  if (exchange.req.method === 'POST') face.trace.settings.change(model, readChange(await requireJsonObject(exchange)))
  sendJson(exchange, face.trace.settings.show(model))
}

function isServed({ engine }: Face, model: string): boolean {
  try {
    engine.metadata(model, '')
    return true
  } catch {
    return false
  }
}

function readChange(body: JsonObject): TraceChange {
  const change: TraceChange = {}
  if (body['trace_file'] !== undefined) refuseFile()
  const level = body['trace_level']
  if (level !== undefined) change.level = level === null ? undefined : readTraceLevels(readNames(level))
  for (const name of NUMBER_NAMES) {
    const value = body[name]
    if (value === undefined) continue
    if (value !== null && typeof value !== 'string') throw wrongKind('string')
    change[NUMBERS[name]] = value === null ? undefined : readTraceNumber(name, value, '')
  }
  return change
}

const NUMBER_NAMES = Object.keys(NUMBERS) as NumberName[]

function readNames(level: JsonValue): readonly string[] {
  if (!Array.isArray(level)) throw wrongKind('array')
  return level.map((name) => {
    if (typeof name !== 'string') throw wrongKind('string')
    return name
  })
}
