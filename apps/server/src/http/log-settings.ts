import { ConchError } from '@conch/protocol'
import type { JsonValue } from '@conch/protocol'
import type { LogSettings } from '../log.ts'
import type { Exchange } from './exchange.ts'
import { requireJsonObject, wrongKind } from './read-json.ts'
import { sendJson } from './reply.ts'

/** `/v2/logging` (reference: http §11). */
export async function answerLogging(exchange: Exchange): Promise<void> {
  const { settings } = exchange.face.log
  if (exchange.req.method === 'POST') changeSettings(settings, await requireJsonObject(exchange))
  sendJson(exchange, {
    log_file: settings.file,
    log_info: settings.info,
    log_warning: settings.warning,
    log_error: settings.error,
    log_verbose_level: settings.verbose,
    log_format: settings.format,
  })
}

/** One by one, in this order: what was set before a member that is refused stays set. */
function changeSettings(settings: LogSettings, body: Readonly<Record<string, JsonValue>>): void {
  if (given(body['log_file']))
    throw new ConchError('UNSUPPORTED', 'log file location can not be updated through network protocol')
  if (given(body['log_info'])) settings.info = readBoolean(body['log_info'])
  if (given(body['log_warning'])) settings.warning = readBoolean(body['log_warning'])
  if (given(body['log_error'])) settings.error = readBoolean(body['log_error'])
  const verbose = body['log_verbose_level']
  if (given(verbose)) {
    if (typeof verbose !== 'bigint' || verbose < 0n) throw wrongKind('unsigned-integer')
    settings.verbose = Number(verbose)
  }
  const format = body['log_format']
  if (given(format)) {
    if (typeof format !== 'string') throw wrongKind('string')
    if (format !== 'default' && format !== 'ISO8601')
      throw new ConchError('UNAVAILABLE', `invalid argument for --log_format, got: ${format}`)
    settings.format = format
  }
}

function given(value: JsonValue | undefined): value is Exclude<JsonValue, null> {
  return value !== undefined && value !== null
}

function readBoolean(value: JsonValue | undefined): boolean {
  if (typeof value !== 'boolean') throw wrongKind('boolean')
  return value
}
