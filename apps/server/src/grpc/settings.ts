import { ConchError } from '@conch/protocol'
import type { TraceChange, TraceValues } from '../trace-store.ts'
import type { Face } from './face.ts'
import type { Fields } from './fields.ts'

/** TraceSetting (reference: gRPC §3). An empty map reads. */
export function traceSetting({ engine, trace }: Face, request: Fields): Fields {
  const model = request['model_name'] as string
  if (model !== '') checkModel(engine, model)
  const change: TraceChange = new Map()
  for (const [key, { value }] of Object.entries(request['settings'] as Record<string, { value: readonly string[] }>)) {
    readTraceSetting(key, value, change)
  }
  if (change.size > 0) trace.change(model, change)
  const shown = Object.entries(trace.show(model)).map(([key, value]) => [key, { value: [value].flat() }])
  return { settings: Object.fromEntries(shown) as Fields }
}

function checkModel(engine: Face['engine'], model: string): void {
  try {
    engine.config(model, '')
  } catch (cause) {
    throw new ConchError('INVALID_ARG', `Request for unknown model : ${model}`, { cause })
  }
}

function readTraceSetting(key: string, values: readonly string[], change: TraceChange): void {
  if (key === 'trace_file')
    throw new ConchError('UNSUPPORTED', 'trace file location can not be updated through network protocol')
  if (key === 'trace_level') {
    change.set(key, values.length === 0 ? undefined : readLevels(values))
    return
  }
  const rule = NUMBERS[key]
  if (rule === undefined) return
  if (values.length > 1) throw new ConchError('INVALID_ARG', `expect only 1 value for '${key}'`)
  const [text] = values
  change.set(rule.key, text === undefined ? undefined : readNumber(rule, text))
}

const LEVELS = new Set(['OFF', 'TIMESTAMPS', 'TENSORS'])
const MOST = 2 ** 32 - 1

interface Rule {
  readonly key: Exclude<keyof TraceValues, 'trace_level'>
  readonly least: number
  /** The original says what is too small in other words than what is too large. */
  readonly hint: string
}
const NUMBERS: Readonly<Record<string, Rule>> = {
  trace_rate: { key: 'trace_rate', least: 0, hint: '' },
  trace_count: { key: 'trace_count', least: -1, hint: ' value must be between -1 and 4294967295' },
  log_frequency: { key: 'log_frequency', least: 0, hint: '' },
}

function readLevels(values: readonly string[]): readonly string[] {
  const unknown = values.find((level) => !LEVELS.has(level))
  if (unknown !== undefined) throw new ConchError('INVALID_ARG', `Unable to parse 'trace_level', got: ${unknown}`)
  return values
}

function readNumber({ key, least, hint }: Rule, text: string): string {
  const number = Number(/^\s*[+-]?\d+/.exec(text)?.[0])
  if (Number.isNaN(number)) throw new ConchError('INVALID_ARG', `Unable to parse '${key}', got: ${text}`)
  if (number < least || number > MOST) {
    const why = hint === '' ? `value is out of range [ 0, 4294967295 ], got: ${text}` : `${hint.trim()}, got: ${text}`
    throw new ConchError('INVALID_ARG', `Unable to parse '${key}', ${why}`)
  }
  return String(number)
}

type LogChoice = Readonly<{ bool_param?: boolean; uint32_param?: number; string_param?: string }>

/** LogSettings (reference: gRPC §3). What was set before a value that is refused stays set. */
export function logSettings({ log }: Face, request: Fields): Fields {
  const given = request['settings'] as Record<string, LogChoice>
  if (given['log_file'] !== undefined) {
    throw new ConchError('UNSUPPORTED', 'log file location can not be updated through network protocol')
  }
  const { settings } = log
  for (const key of ['log_info', 'log_warning', 'log_error'] as const) {
    const choice = given[key]
    if (choice === undefined) continue
    settings[key] = choice.bool_param ?? refuse(`expect boolean for '${key}'`)
  }
  const verbose = given['log_verbose_level']
  if (verbose !== undefined)
    settings.log_verbose_level = verbose.uint32_param ?? refuse("expect int32 for 'log_verbose_level'")
  const format = given['log_format']
  if (format !== undefined) {
    const text = format.string_param ?? refuse("expect string for 'log_format'")
    if (text !== 'default' && text !== 'ISO8601') refuse(`invalid argument for log_format, got: ${text}`)
    settings.log_format = text
  }
  const { log_info, log_warning, log_error, log_verbose_level, log_format } = settings
  return {
    settings: {
      log_file: { string_param: log.file },
      log_info: { bool_param: log_info },
      log_warning: { bool_param: log_warning },
      log_error: { bool_param: log_error },
      log_verbose_level: { uint32_param: log_verbose_level },
      log_format: { string_param: log_format },
    },
  }
}

function refuse(text: string): never {
  throw new ConchError('INVALID_ARG', text)
}
