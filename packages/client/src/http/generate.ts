import { ConchError, parseJson, type JsonValue, type WritableJson } from '@conch/protocol'
import { ClientError, httpCode } from '../error.ts'
import { isObject, refuse, understand } from './answers.ts'
import { joinParts, type HttpStream } from './transport.ts'

/** Inputs and parameters, or outputs and parameters, by name. */
export type Fields = { readonly [name: string]: WritableJson | undefined }

export function readFields(body: Uint8Array): Fields {
  return understand(() => {
    const value = parseJson(body)
    if (!isObject(value)) throw new ConchError('INTERNAL', 'expected a JSON object')
    const fields: Record<string, WritableJson> = {}
    for (const [name, member] of Object.entries(value)) fields[name] = relax(member)
    return fields
  })
}

/** Integers that a number can hold become numbers. */
function relax(value: JsonValue): WritableJson {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value
  return Array.isArray(value) ? value.map(relax) : (value as WritableJson)
}

/** Bytes of one event; a longer one ends the stream. */
const LONGEST = 256 * 2 ** 20
const NEWLINE = 0x0a

/** The events of a stream, each an object of fields. An event that tells an error is thrown. */
export async function* readEvents(stream: HttpStream): AsyncGenerator<Fields, void> {
  if (!(stream.header('content-type') ?? '').startsWith('text/event-stream')) {
    const parts: Uint8Array[] = []
    for await (const part of stream.body) parts.push(part)
    refuse({ status: stream.status, body: joinParts(parts) })
  }
  for await (const event of splitEvents(stream.body)) {
    const fields = readFields(event)
    const { error } = fields
    if (typeof error === 'string') throw new ClientError(httpCode(stream.status), error, { status: stream.status })
    yield fields
  }
}

/** What follows `data: ` in each event. Events of this protocol have one such line. */
async function* splitEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let rest: Uint8Array = new Uint8Array(0)
  for await (const part of body) {
    rest = rest.length === 0 ? part : joinParts([rest, part])
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      const line = rest.subarray(0, end)
      rest = rest.subarray(end + 1)
      if (isData(line)) yield line.subarray(DATA.length)
    }
    if (rest.length > LONGEST) throw new ClientError('RESOURCE_EXHAUSTED', `an event has more than ${LONGEST} bytes`)
  }
}

const DATA = 'data:'

function isData(line: Uint8Array): boolean {
  for (let i = 0; i < DATA.length; i += 1) if (line[i] !== DATA.charCodeAt(i)) return false
  return true
}
