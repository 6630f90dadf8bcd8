import type { Datatype } from '../datatype.ts'
import { ConchError } from '../status.ts'
import { MAX_DATA_DEPTH } from './data-reader.ts'
import { CLOSE_ARRAY, COMMA, OPEN_ARRAY, QUOTE, skipSpace, skipValue } from './json-scan.ts'
import { failMember, readBoolean, readNumeric } from './json-members.ts'

export interface UnreadData {
  readonly name: string
  readonly datatype: Datatype
  readonly shape: readonly number[]
  readonly count: number
}

/** Says why `data` (checked JSON text) could not be read as the input it is meant to be. */
export function explainData(s: Uint8Array, at: number, input: UnreadData): never {
  if (s[at] !== OPEN_ARRAY) failMember('data', 'attempt to access JSON non-array as array')
  if (input.datatype === 'FP16' || input.datatype === 'BF16') {
    throw new ConchError(
      'INVALID_ARG',
      `receiving ${input.datatype} data via JSON is not supported. Please use the binary data format for input ${input.name}`,
    )
  }
  const count = countLeaves(s, at, input)
  failMember(
    'data',
    `Shape does not match true shape of 'data' field: input '${input.name}' of shape [${input.shape.join(',')}] takes ${input.count} elements, got ${count}`,
  )
}

/** Counts the elements of an array, nested or flat; for an input, refusing the first that is not of its kind. */
export function countLeaves(s: Uint8Array, at: number, input?: UnreadData): number {
  let depth = 0
  let count = 0
  do {
    const c = s[at] ?? 0
    if (c === OPEN_ARRAY) {
      depth += 1
      if (depth > MAX_DATA_DEPTH) failDepth(input?.datatype)
      at += 1
    } else if (c === CLOSE_ARRAY) {
      depth -= 1
      at += 1
    } else if (c === COMMA) at += 1
    else {
      if (input !== undefined && count < input.count) checkElement(s, at, input)
      count += 1
      at = skipValue(s, at)
    }
    at = skipSpace(s, at)
  } while (depth > 0)
  return count
}

function failDepth(datatype: Datatype | undefined): never {
  const text = `JSON nesting depth exceeds maximum allowed limit (${MAX_DATA_DEPTH})`
  throw new ConchError('INVALID_ARG', datatype === 'BYTES' ? text : `Unable to parse 'data': ${text}`)
}

function checkElement(s: Uint8Array, at: number, input: UnreadData): void {
  const { datatype } = input
  if (datatype === 'BYTES') {
    if (s[at] === QUOTE) return
    throw new ConchError('INTERNAL', 'Unable to parse JSON bytes array: attempt to access JSON non-string as string')
  }
  const problem = describeElement(s, at, datatype)
  if (problem !== undefined) failMember('data', `attempt to access JSON non-${problem}`)
}

function describeElement(s: Uint8Array, at: number, datatype: Datatype): string | undefined {
  if (datatype === 'BOOL') return readBoolean(s, at) === undefined ? 'boolean as boolean' : undefined
  const value = readNumeric(s, at)
  if (datatype === 'FP32' || datatype === 'FP64') return value === undefined ? 'number as double' : undefined
  if (datatype.startsWith('U')) {
    return typeof value === 'bigint' && value >= 0n ? undefined : 'unsigned-integer as unsigned-integer'
  }
  return typeof value === 'bigint' && value < 2n ** 63n ? undefined : 'signed-integer as signed-integer'
}
