import { ConchError } from '../status.ts'
import {
  checkDocumentEnd,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  findDocumentStart,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  skipColon,
  skipScalar,
  skipSpace,
  skipString,
  skipValue,
} from './json-scan.ts'
import { readText } from './json-text.ts'
import { readBoolean, readNumeric } from './json-members.ts'

/** JSON as data: integers are bigint, other numbers number, so that nothing is lost. Objects have no prototype. */
export type JsonValue =
  null | boolean | bigint | number | string | readonly JsonValue[] | { readonly [member: string]: JsonValue }

const MAX_DEPTH = 100
/** Of a control body; objects cost many times the bytes of their text. */
export const MAX_VALUES = 100_000

/** Reads a whole document in the original's dialect, with its texts for mistakes. For control bodies, not for tensors. */
export function parseJson(bytes: Uint8Array): JsonValue {
  const start = findDocumentStart(bytes)
  checkDocumentEnd(bytes, skipValue(bytes, start))
  return new Reader(bytes, start).value(0)
}

/** Walks over text whose syntax was checked before. */
class Reader {
  readonly #bytes: Uint8Array
  #at: number
  #values = 0

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  value(depth: number): JsonValue {
    this.#values += 1
    if (this.#values > MAX_VALUES) throw new ConchError('INVALID_ARG', `JSON holds more than ${MAX_VALUES} values`)
    if (depth > MAX_DEPTH)
      throw new ConchError('INVALID_ARG', `JSON nesting depth exceeds maximum allowed limit (${MAX_DEPTH})`)
    const s = this.#bytes
    const at = this.#at
    if (s[at] === OPEN_OBJECT) return this.#object(depth)
    if (s[at] === OPEN_ARRAY) return this.#array(depth)
    this.#at = skipScalar(s, at)
    if (s[at] === QUOTE) return readText(s, at + 1, this.#at - 1)
    if (s[at] === 0x6e) return null
    return readBoolean(s, at) ?? readNumeric(s, at) ?? Number.NaN
  }

  /** Of equal names the first counts. */
  #object(depth: number): JsonValue {
    const s = this.#bytes
    const object = Object.create(null) as Record<string, JsonValue>
    while (this.#next(CLOSE_OBJECT)) {
      const from = this.#at
      const end = skipString(s, from)
      const name = readText(s, from + 1, end - 1)
      this.#at = skipColon(s, end)
      const value = this.value(depth + 1)
      if (!(name in object)) object[name] = value
    }
    return object
  }

  #array(depth: number): JsonValue {
    const array: JsonValue[] = []
    while (this.#next(CLOSE_ARRAY)) array.push(this.value(depth + 1))
    return array
  }

  /** Moves to the next member or element; false behind the closing bracket. */
  #next(closer: number): boolean {
    const s = this.#bytes
    let at = skipSpace(s, this.#at)
    const c = s[at]
    if (c === COMMA || c === OPEN_ARRAY || c === OPEN_OBJECT) at = skipSpace(s, at + 1)
    this.#at = s[at] === closer ? at + 1 : at
    return s[at] !== closer
  }
}
