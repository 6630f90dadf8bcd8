import { ConchError } from '../status.ts'
import { OPEN_OBJECT, QUOTE } from './json-scan.ts'
import { readString } from './json-text.ts'
import {
  cutAtNul,
  failMember,
  findMembers,
  readBoolean,
  readBooleanMember,
  readNumeric,
  readUnsignedMember,
} from './json-members.ts'
import type { InferRequest, Parameters, ParameterValue } from './request.ts'

export const NO_PARAMETERS: Parameters = Object.freeze(Object.create(null) as Parameters)

/** Longest string correlation id, in bytes. */
const MAX_CORRELATION_ID = 128

/** Reads the request's `parameters` (checked JSON text) into `request` (reference: front door §6.3). */
export function parseParameters(s: Uint8Array, at: number, request: InferRequest): void {
  if (s[at] !== OPEN_OBJECT) {
    throw new ConchError('INTERNAL', 'failed to get request params.: attempt to get members for non-object')
  }
  const custom: Record<string, ParameterValue> = Object.create(null) as Record<string, ParameterValue>
  for (const [key, value] of findMembers(s, at)) {
    if (parseKnown(s, { key, at: value }, request)) continue
    if (key.startsWith('triton_')) failReserved()
    custom[cutAtNul(key)] = parseParameter(s, value, key)
  }
  request.parameters = custom
}

/** Returns false for a key without a place of its own. */
function parseKnown(s: Uint8Array, member: { key: string; at: number }, request: InferRequest): boolean {
  const { key, at } = member
  switch (key) {
    case 'sequence_id':
      request.sequenceId = parseSequenceId(s, at)
      return true
    case 'sequence_start':
      request.sequenceStart = readBooleanMember(s, at, key)
      return true
    case 'sequence_end':
      request.sequenceEnd = readBooleanMember(s, at, key)
      return true
    case 'priority':
      request.priority = readUnsignedMember(s, at, key)
      return true
    case 'timeout':
      request.timeout = readUnsignedMember(s, at, key)
      return true
    case 'binary_data_output':
      request.binaryOutputs = readBooleanMember(s, at, key)
      return true
    default:
      return false
  }
}

function parseSequenceId(s: Uint8Array, at: number): bigint | string {
  if (s[at] !== QUOTE) {
    const value = readNumeric(s, at)
    if (typeof value === 'bigint' && value >= 0n) return value
    failMember('sequence_id', 'attempt to access JSON non-string as string')
  }
  return checkCorrelationId(cutAtNul(readString(s, at)))
}

/** Returns the id, or refuses one that is too long. */
export function checkCorrelationId(id: string): string {
  const size = new TextEncoder().encode(id).length
  if (size <= MAX_CORRELATION_ID) return id
  throw new ConchError(
    'UNSUPPORTED',
    `string correlation ID cannot be longer than ${MAX_CORRELATION_ID} characters, got ${size}`,
  )
}

function failReserved(): never {
  throw new ConchError(
    'INVALID_ARG',
    "parameter keys starting with 'triton_' are reserved for Triton usage and should not be specified.",
  )
}

/** A custom parameter: text, integer, boolean or double. */
export function parseParameter(s: Uint8Array, at: number, key: string): ParameterValue {
  const value = s[at] === QUOTE ? cutAtNul(readString(s, at)) : (readBoolean(s, at) ?? readNumeric(s, at))
  if (value === undefined) {
    throw new ConchError(
      'INVALID_ARG',
      `parameter '${key}' has invalid type. It should be either 'int', 'bool', or 'string'.`,
    )
  }
  // A signed 64-bit integer is all the original has; larger ones become doubles there.
  return typeof value === 'bigint' && value >= 2n ** 63n ? Number(value) : value
}
