import { ConchError } from '@conch/protocol'
import type { JsonValue } from '@conch/protocol'
import type { Exchange } from './exchange.ts'
import type { JsonObject } from './read-json.ts'
import { requireJsonObject, wrongKind } from './read-json.ts'
import { sendJson } from './reply.ts'

interface Values {
  trace_level: readonly string[]
  trace_rate: string
  trace_count: string
  log_frequency: string
}

const DEFAULTS: Readonly<Values> = { trace_level: ['OFF'], trace_rate: '1000', trace_count: '-1', log_frequency: '0' }
const LEVELS: ReadonlySet<string> = new Set(['TIMESTAMPS', 'TENSORS'])

/** The settings of the trace extension: global ones and overrides per model. Nothing is traced in this release. */
export class TraceSettings {
  readonly #global: Partial<Values> = {}
  readonly #models = new Map<string, Partial<Values>>()

  show(model: string) {
    return { ...this.#values(model), trace_file: '', trace_mode: 'triton' }
  }

  /** Throws and changes nothing when the result would not be valid (reference: http §10). */
  change(model: string, change: ReadonlyMap<keyof Values, Values[keyof Values] | undefined>): void {
    const target = model === '' ? this.#global : { ...this.#models.get(model) }
    const next = { ...target }
    for (const [key, value] of change) {
      if (value === undefined) delete next[key]
      else Object.assign(next, { [key]: value })
    }
    const level = next.trace_level ?? this.#values('').trace_level
    if (level[0] !== 'OFF')
      throw new ConchError('INVALID_ARG', 'Attempting to set invalid trace setting :trace file name is not given')
    if (model !== '') this.#models.set(model, next)
    else {
      for (const key of change.keys()) delete this.#global[key]
      Object.assign(this.#global, next)
    }
  }

  #values(model: string): Values {
    return { ...DEFAULTS, ...this.#global, ...this.#models.get(model) }
  }
}

/** `/v2/trace/setting` and `/v2/models/{name}/trace/setting`. */
export async function answerTrace(exchange: Exchange): Promise<void> {
  const { model, face } = exchange
  if (model !== '' && !face.engine.modelReady(model, ''))
    throw new ConchError('INVALID_ARG', `Request for unknown model : ${model}`)
  if (exchange.req.method === 'POST') face.trace.change(model, readChange(await requireJsonObject(exchange)))
  sendJson(exchange, face.trace.show(model))
}

function readChange(body: JsonObject): Map<keyof Values, Values[keyof Values] | undefined> {
  const change = new Map<keyof Values, Values[keyof Values] | undefined>()
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

function readNumber(
  body: JsonObject,
  change: Map<keyof Values, Values[keyof Values] | undefined>,
  rule: NumberRule,
): void {
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
