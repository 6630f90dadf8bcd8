import { ConchError } from '../status.ts'
import { checkEntries } from './entries.ts'
import {
  CLOSE_OBJECT,
  COMMA,
  isDigit,
  OPEN_OBJECT,
  QUOTE,
  readNumber,
  readNumberText,
  skipKey,
  skipScalar,
  skipSpace,
  skipString,
  skipValue,
} from './json-scan.ts'
import { readString, readText, readUniqueString } from './json-text.ts'
import { findUnsignedEnd, readUnsigned } from './read-shape.ts'

/** Typed access to values of checked JSON text, with the original's words when the type is another. */
export function readStringMember(s: Uint8Array, at: number, name: string): string {
  requireMember(at, name)
  if (s[at] !== QUOTE) failMember(name, 'attempt to access JSON non-string as string')
  return cutAtNul(readString(s, at))
}

/** Like `readStringMember`, for a text that will not come back. */
export function readIdMember(s: Uint8Array, at: number): string {
  if (s[at] !== QUOTE) failMember('id', 'attempt to access JSON non-string as string')
  return cutAtNul(readUniqueString(s, at))
}

export function readUnsignedMember(s: Uint8Array, at: number, name: string): number {
  requireMember(at, name)
  const end = findUnsignedEnd(s, at)
  if (end < 0) failMember(name, 'attempt to access JSON non-unsigned-integer as unsigned-integer')
  return readUnsigned(s, at, end)
}

export function readBooleanMember(s: Uint8Array, at: number, name: string): boolean {
  requireMember(at, name)
  const value = readBoolean(s, at)
  if (value === undefined) failMember(name, 'attempt to access JSON non-boolean as boolean')
  return value
}

export function readBoolean(s: Uint8Array, at: number): boolean | undefined {
  if (s[at] === 0x74) return true
  return s[at] === 0x66 ? false : undefined
}

/** Integers as bigint, other numbers as number; undefined when the value is no number. */
export function readNumeric(s: Uint8Array, at: number): bigint | number | undefined {
  const c = s[at] ?? 0
  if (c === QUOTE || c >= 0x5b || c === 0) return undefined
  const end = skipScalar(s, at)
  const value = readNumber(s, at, end)
  // What no 64-bit integer holds travels as a double.
  if (!isIntegerText(s, at, end) || value > 2 ** 65 || value < -(2 ** 64)) return value
  const integer = BigInt(readNumberText(s, at, end))
  return integer >= -(2n ** 63n) && integer < 2n ** 64n ? integer : value
}

function isIntegerText(s: Uint8Array, at: number, end: number): boolean {
  for (let i = s[at] === 0x2d ? at + 1 : at; i < end; i += 1) if (!isDigit(s[i] ?? 0)) return false
  return true
}

/** The members of an object, in order, the first of equal names. */
export function findMembers(s: Uint8Array, object: number): Map<string, number> {
  const members = new Map<string, number>()
  let at = skipSpace(s, object + 1)
  if (s[object] !== OPEN_OBJECT || s[at] === CLOSE_OBJECT) return members
  for (;;) {
    const name = readText(s, at + 1, skipString(s, at) - 1)
    const value = skipKey(s, at)
    if (!members.has(name)) {
      checkEntries(members.size, 'parameters')
      members.set(name, value)
    }
    at = skipSpace(s, skipValue(s, value))
    if (s[at] !== COMMA) return members
    at = skipSpace(s, at + 1)
  }
}

export function requireMember(at: number, name: string): void {
  if (at < 0) failMember(name, `attempt to access non-existing object member '${name}'`)
}

export function failMember(name: string, text: string): never {
  throw new ConchError('INTERNAL', `Unable to parse '${name}': ${text}`)
}

/** Ids, names and parameters are C strings there. */
export function cutAtNul(text: string): string {
  const nul = text.indexOf('\0')
  return nul < 0 ? text : text.slice(0, nul)
}
