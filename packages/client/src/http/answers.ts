import { ConchError, messageFromJson, parseJson, type JsonValue } from '@conch/protocol'
import type { LogSettings, TraceSettings } from '../contract.ts'
import { ClientError, httpCode } from '../error.ts'
import type { HttpAnswer } from './transport.ts'

const decoder = new TextDecoder()

export function readText(body: Uint8Array): string {
  return decoder.decode(body)
}

/** The body of an answer with status 200; anything else is thrown. */
export function checkAnswer(answer: HttpAnswer): Uint8Array {
  return answer.status === 200 ? answer.body : refuse(answer)
}

/** Throws what an answer says went wrong: its JSON member `error`, or its text. */
export function refuse({ status, body }: Pick<HttpAnswer, 'status' | 'body'>): never {
  throw new ClientError(httpCode(status), readReason(body), { status })
}

const LONGEST_REASON = 2_000

function readReason(body: Uint8Array): string {
  if (body.length === 0) return 'client received an empty response from the server.'
  try {
    const value = parseJson(body)
    if (isObject(value) && typeof value['error'] === 'string') return value['error']
  } catch {
    // A proxy's page, perhaps: its text has to do.
  }
  return readText(body.subarray(0, LONGEST_REASON))
}

/** A JSON answer as the record that gRPC has for it. */
export function readMessage<T>(name: string, body: Uint8Array): T {
  return understand(() => messageFromJson(name, parseJson(body)) as T)
}

export function readList<T>(name: string, body: Uint8Array): T[] {
  return understand(() => {
    const list = parseJson(body)
    if (!Array.isArray(list)) throw new ConchError('INTERNAL', `expected a list of ${name}`)
    return list.map((one: JsonValue) => messageFromJson(name, one) as T)
  })
}

/** Values are strings, or lists of them. */
export function readTrace(body: Uint8Array): TraceSettings {
  const settings: Record<string, readonly string[]> = {}
  for (const [key, value] of readMembers(body)) settings[key] = (Array.isArray(value) ? value : [value]).map(String)
  return settings
}

export function readLogSettings(body: Uint8Array): LogSettings {
  const settings: Record<string, boolean | number | string> = {}
  for (const [key, value] of readMembers(body)) {
    if (typeof value === 'boolean' || typeof value === 'string') settings[key] = value
    else if (typeof value === 'bigint') settings[key] = Number(value)
  }
  return settings
}

function readMembers(body: Uint8Array): [string, JsonValue][] {
  return understand(() => {
    const value = parseJson(body)
    if (!isObject(value)) throw new ConchError('INTERNAL', 'expected a JSON object')
    return Object.entries(value)
  })
}

export function isObject(value: JsonValue): value is { readonly [member: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What cannot be understood of an answer is the server's mistake, not the caller's. */
export function understand<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ConchError)) throw error
    throw new ClientError('INTERNAL', `the server's answer cannot be read: ${error.message}`, { cause: error })
  }
}
