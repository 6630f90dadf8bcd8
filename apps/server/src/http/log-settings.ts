import { ConchError } from '@conch/protocol'
import type { JsonValue } from '@conch/protocol'
import type { LogSettings } from '@conch/engine'
import type { Exchange } from './exchange.ts'
import type { JsonObject } from './read-json.ts'
import { requireJsonObject, wrongKind } from './read-json.ts'
import { sendJson } from './reply.ts'

/** `/v2/logging` (reference: http §11). */
export async function answerLogging(exchange: Exchange): Promise<void> {
  const { log } = exchange.face
  if (exchange.req.method === 'POST') changeSettings(log.settings, await requireJsonObject(exchange))
  const { log_info, log_warning, log_error, log_verbose_level, log_format } = log.settings
  sendJson(exchange, { log_file: log.file, log_info, log_warning, log_error, log_verbose_level, log_format })
}

/** One by one, in this order: what was set before a member that is refused stays set. */
function changeSettings(settings: LogSettings, body: JsonObject): void {
  if (given(body['log_file']))
    throw new ConchError('UNSUPPORTED', 'log file location can not be updated through network protocol')
  for (const key of ['log_info', 'log_warning', 'log_error'] as const) {
    const value = body[key]
    if (!given(value)) continue
    if (typeof value !== 'boolean') throw wrongKind('boolean')
    settings[key] = value
  }
  const verbose = body['log_verbose_level']
  if (given(verbose)) settings.log_verbose_level = readLevel(verbose)
  const format = body['log_format']
  if (!given(format)) return
  if (typeof format !== 'string') throw wrongKind('string')
  if (format !== 'default' && format !== 'ISO8601')
    throw new ConchError('UNAVAILABLE', `invalid argument for --log_format, got: ${format}`)
  settings.log_format = format
}

function readLevel(level: JsonValue): number {
  if (typeof level !== 'bigint' || level < 0n) throw wrongKind('unsigned-integer')
  if (level < 2n ** 31n) return Number(level)
  const text = `invalid argument for log_verbose_level, got: ${level}; expected 0 to 2147483647`
  throw new ConchError('INVALID_ARG', text)
}

function given(value: JsonValue | undefined): value is Exclude<JsonValue, null> {
  return value !== undefined && value !== null
}
