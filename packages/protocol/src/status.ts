/** The codes of the original's core (reference: front door §1.2). */
export type Code =
  'UNKNOWN' | 'INTERNAL' | 'NOT_FOUND' | 'INVALID_ARG' | 'UNAVAILABLE' | 'UNSUPPORTED' | 'ALREADY_EXISTS' | 'CANCELLED'

export const HTTP_STATUS: Readonly<Record<Code, number>> = {
  UNKNOWN: 400,
  INTERNAL: 500,
  NOT_FOUND: 404,
  INVALID_ARG: 400,
  UNAVAILABLE: 503,
  UNSUPPORTED: 501,
  ALREADY_EXISTS: 400,
  CANCELLED: 400,
}

export const GRPC_STATUS: Readonly<Record<Code, number>> = {
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARG: 3,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  UNSUPPORTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
}

/** How the original spells a code inside a reason, as in `Internal: failed to stat file …`. */
export const CODE_TEXT: Readonly<Record<Code, string>> = {
  UNKNOWN: 'Unknown',
  INTERNAL: 'Internal',
  NOT_FOUND: 'Not found',
  INVALID_ARG: 'Invalid argument',
  UNAVAILABLE: 'Unavailable',
  UNSUPPORTED: 'Unsupported',
  ALREADY_EXISTS: 'Already exists',
  CANCELLED: 'Cancelled',
}

/** The one error class: everything a client may see. Whatever else is thrown leaves a face as INTERNAL. */
export class ConchError extends Error {
  override readonly name = 'ConchError'
  readonly code: Code
  constructor(code: Code, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
