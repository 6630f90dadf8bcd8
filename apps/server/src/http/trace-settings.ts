import { ConchError } from '@conch/protocol'
import type { JsonValue } from '@conch/protocol'
import type { Exchange, Face } from './exchange.ts'
import type { JsonObject } from './read-json.ts'
import { requireJsonObject, wrongKind } from './read-json.ts'
import { sendJson } from './reply.ts'
import type { TraceChange } from '../trace-store.ts'

/** `/v2/trace/setting` and `/v2/models/{name}/trace/setting`. */
export async function answerTrace(exchange: Exchange): Promise<void> {
  const { model, face } = exchange
  if (model !== '' && !isServed(face, model))
    throw new ConchError('INVALID_ARG', `Request for unknown model : ${model}`)
  if (exchange.req.method === 'POST') face.trace.change(model, readChange(await requireJsonObject(exchange)))
  sendJson(exchange, face.trace.show(model))
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
  const change = new Map() as TraceChange
  if (body['trace_file'] !== undefined) {
    throw new ConchError('UNSUPPORTED', 'trace file location can not be updated through network protocol')
  }
  const level = body['trace_level']
  if (level !== undefined) change.set('trace_level', level === null ? undefined : readLevels(level))
  readNumber(body, change, { key: 'trace_rate', least: 0, most: 2 ** 31 - 1, hint: '' })
  readNumber(body, change, { key: 'trace_count', least: -1, most: 2 ** 31 - 1, hint: '. Expecting value >= -1' })
  readNumber(body, change, { key: 'log_frequency', least: 0, most: 2 ** 31 - 1, hint: '' })
  return change
}

const LEVELS: ReadonlySet<string> = new Set(['TIMESTAMPS', 'TENSORS'])

function readLevels(level: JsonValue): readonly string[] {
  if (!Array.isArray(level)) throw wrongKind('array')
  const names = level.map((name) => {
    if (typeof name !== 'string') throw wrongKind('string')
    return name
  })
  if (names.includes('OFF')) {
    if (names.length > 1) throw new ConchError('INVALID_ARG', "Expect only one trace level 'OFF' is specified")
    return ['OFF']
  }
  const known = names.filter((name) => LEVELS.has(name))
  return known.length === 0 ? ['OFF'] : known
}

interface NumberRule {
  readonly key: 'trace_rate' | 'trace_count' | 'log_frequency'
  readonly least: number
  readonly most: number
  readonly hint: string
}

function readNumber(body: JsonObject, change: TraceChange, rule: NumberRule): void {
  const value = body[rule.key]
  if (value === undefined) return
  if (value === null) return void change.set(rule.key, undefined)
  if (typeof value !== 'string') throw wrongKind('string')
  const parsed = /^\s*[+-]?\d+/.exec(value)
  const number = Number(parsed?.[0])
  if (!parsed || (number < rule.least && rule.hint !== '')) {
    throw new ConchError(
      'INVALID_ARG',
      `Unable to parse '${rule.key}'${rule.hint}, got:${rule.hint === '' ? ' ' : ''}${value}`,
    )
  }
  if (number < rule.least || number > rule.most) {
    throw new ConchError(
      'INVALID_ARG',
      `Unable to parse '${rule.key}', value is out of range [ 0, 4294967295 ], got: ${value}`,
    )
  }
  change.set(rule.key, String(number))
}
