import { ConchError, GRPC_STATUS, MessageError } from '@conch/protocol'

/** Codes of gRPC that the engine does not have. */
export const STATUS = {
  OK: 0,
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  RESOURCE_EXHAUSTED: 8,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
} as const

/** How a call ends when it does not end well. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError'
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Status and text of whatever was thrown. */
export function describeError(error: unknown): { status: number; message: string } {
  if (error instanceof GrpcError) return { status: error.status, message: error.message }
  if (error instanceof MessageError)
    return { status: error.tooLarge ? STATUS.RESOURCE_EXHAUSTED : STATUS.INTERNAL, message: error.message }
  if (error instanceof ConchError) return { status: GRPC_STATUS[error.code], message: error.message }
  return { status: STATUS.INTERNAL, message: error instanceof Error ? error.message : String(error) }
}

/** `grpc-message`: printable ASCII but `%`, the rest percent-encoded as UTF-8. Bounded, for a header has to hold it. */
export function encodeStatusMessage(text: string): string {
  let out = ''
  for (const byte of Buffer.from(text).subarray(0, LONGEST)) {
    out += byte >= 0x20 && byte <= 0x7e && byte !== 0x25 ? String.fromCharCode(byte) : `%${HEX(byte)}`
  }
  return out
}

const LONGEST = 4_000
const HEX = (byte: number) => byte.toString(16).toUpperCase().padStart(2, '0')
