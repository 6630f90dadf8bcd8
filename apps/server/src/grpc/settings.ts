import { ConchError } from '@conch/protocol'
import { NUMBERS, readTraceLevels, readTraceNumber, refuseFile } from '../tracing/read-change.ts'
import type { NumberName } from '../tracing/read-change.ts'
import type { TraceChange } from '../tracing/trace-settings.ts'
import type { Face } from './face.ts'
import type { Fields } from './fields.ts'

/** TraceSetting (reference: gRPC §3). An empty map reads. */
export function traceSetting({ engine, trace }: Face, request: Fields): Fields {
  const model = request['model_name'] as string
  if (model !== '') checkModel(engine, model)
  const change: TraceChange = {}
  for (const [key, { value }] of Object.entries(request['settings'] as Record<string, { value: readonly string[] }>)) {
    readTraceSetting(key, value, change)
  }
  if (Object.keys(change).length > 0) trace.settings.change(model, change)
  const shown = Object.entries(trace.settings.show(model)).map(([key, value]) => [key, { value: [value].flat() }])
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
  if (key === 'trace_file') refuseFile()
  if (key === 'trace_level') change.level = values.length === 0 ? undefined : readTraceLevels(values)
  if (!Object.hasOwn(NUMBERS, key)) return
  const name = key as NumberName
  if (values.length > 1) throw new ConchError('INVALID_ARG', `expect only 1 value for '${key}'`)
  const [text] = values
  change[NUMBERS[name]] = text === undefined ? undefined : readTraceNumber(name, text, ' ')
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
  if (verbose !== undefined) settings.log_verbose_level = readLevel(verbose.uint32_param)
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

function readLevel(level: number | undefined): number {
  return level !== undefined && level < 2 ** 31 ? level : refuse("expect int32 for 'log_verbose_level'")
}

function refuse(text: string): never {
  throw new ConchError('INVALID_ARG', text)
}
