import { ConchError, GRPC_STATUS, type Code } from '@conch/protocol'

export type ErrorCode = Code | 'DEADLINE_EXCEEDED' | 'RESOURCE_EXHAUSTED' | 'PERMISSION_DENIED' | 'UNAUTHENTICATED'

/** The one error class: every call that does not succeed rejects with it. */
export class ClientError extends Error {
  override readonly name = 'ClientError'
  readonly code: ErrorCode
  /** As the server sent it: the HTTP status, or the gRPC status. 0 = no answer came. */
  readonly status: number
  constructor(code: ErrorCode, message: string, options: ErrorOptions & { readonly status?: number } = {}) {
    super(message, options)
    this.code = code
    this.status = options.status ?? 0
  }
}

const HTTP_CODES: Readonly<Record<number, ErrorCode>> = {
  400: 'INVALID_ARG',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  413: 'RESOURCE_EXHAUSTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  501: 'UNSUPPORTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

export function httpCode(status: number): ErrorCode {
  return HTTP_CODES[status] ?? 'UNKNOWN'
}

const GRPC_CODES: Readonly<Record<number, ErrorCode>> = {
  ...Object.fromEntries(Object.entries(GRPC_STATUS).map(([code, status]) => [status, code as Code])),
  4: 'DEADLINE_EXCEEDED',
  7: 'PERMISSION_DENIED',
  8: 'RESOURCE_EXHAUSTED',
  16: 'UNAUTHENTICATED',
}

export function grpcCode(status: number): ErrorCode {
  return GRPC_CODES[status] ?? 'UNKNOWN'
}

/** Why a call was given up on this side. */
export function describeAbort(signal: AbortSignal): ClientError {
  const cause: unknown = signal.reason
  const late = cause instanceof Error && cause.name === 'TimeoutError'
  return late
    ? new ClientError('DEADLINE_EXCEEDED', 'Deadline Exceeded', { cause })
    : new ClientError('CANCELLED', 'Locally cancelled by application!', { cause })
}

/** What a caller sees of anything that was thrown while a call ran. */
export function toClientError(error: unknown, signal?: AbortSignal): ClientError {
  if (error instanceof ClientError) return error
  if (signal?.aborted === true) return describeAbort(signal)
  if (error instanceof ConchError) return new ClientError(error.code, error.message, { cause: error })
  const reason = error instanceof Error ? rootMessage(error) : String(error)
  return new ClientError('UNAVAILABLE', `failed to obtain inference response: ${reason}`, { cause: error })
}

/** fetch says 'fetch failed' and hides the reason. */
function rootMessage(error: Error): string {
  return error.cause instanceof Error ? rootMessage(error.cause) : error.message
}
