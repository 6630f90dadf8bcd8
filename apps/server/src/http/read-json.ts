import { ConchError, parseJson } from '@conch/protocol'
import type { JsonValue } from '@conch/protocol'
import type { Exchange } from './exchange.ts'
import { readBody } from './read-body.ts'

export type JsonObject = { readonly [member: string]: JsonValue }

/** The original's words for a member of the wrong kind (reference: http §1.2); all of them are INTERNAL, hence 500. */
export function wrongKind(wanted: 'string' | 'array' | 'object' | 'boolean' | 'unsigned-integer'): ConchError {
  return new ConchError('INTERNAL', `attempt to access JSON non-${wanted} as ${wanted}`)
}

/** The body of a control request as a JSON object; undefined when there is none. An array counts as an object without members. */
export async function readJsonObject(exchange: Exchange): Promise<JsonObject | undefined> {
  const limit = exchange.face.options.maxInputSize
  const body = await readBody(exchange, limit + 1)
  if (body.length === 0) return undefined
  checkJsonSize(body.length, limit)
  const value = await exchange.face.workers.parseJson(body)
  if (isObject(value)) return value
  if (Array.isArray(value)) return {}
  throw new ConchError('INTERNAL', 'attempt to get members for non-object')
}

export function checkJsonSize(size: number, limit: number): void {
  if (size <= limit) return
  throw new ConchError(
    'INVALID_ARG',
    `request JSON size of ${size} bytes exceeds the maximum allowed input size of ${limit} bytes. Use --http-max-input-size to increase the limit.`,
  )
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** For a body that must be there: an empty one is a parse error. */
export async function requireJsonObject(exchange: Exchange): Promise<JsonObject> {
  return (await readJsonObject(exchange)) ?? failEmpty()
}

function failEmpty(): never {
  parseJson(new Uint8Array(0))
  throw new ConchError('INTERNAL', 'failed to parse the request JSON buffer: The document is empty. at 0')
}
