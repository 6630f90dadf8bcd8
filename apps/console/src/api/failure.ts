import type { ConfigProblem } from '@conch/server/schemas'
import { TRPCClientError } from '@trpc/client'

/** What a screen shows of anything that went wrong. */
export interface Failure {
  /** One of the server's codes; OFFLINE when no answer came at all. */
  readonly code: string
  readonly message: string
  readonly problems: readonly ConfigProblem[]
  /** Field → complaint, when a form was refused. */
  readonly fields: Readonly<Record<string, string>>
}

interface Details {
  readonly code?: string
  readonly message?: unknown
  readonly problems?: unknown
  readonly fields?: unknown
}

const OFFLINE = 'The server does not answer. Is it still running?'

export function readFailure(error: unknown): Failure {
  const empty = { problems: [], fields: {} }
  if (!(error instanceof TRPCClientError)) return { code: 'UNKNOWN', message: describe(error), ...empty }
  const data = error.data as { conch?: Details; code?: string } | null | undefined
  if (data === null || data === undefined) return { code: 'OFFLINE', message: OFFLINE, ...empty }
  const details = data.conch ?? {}
  return {
    code: details.code ?? data.code ?? 'UNKNOWN',
    message: typeof details.message === 'string' ? details.message : error.message,
    problems: Array.isArray(details.problems) ? (details.problems as ConfigProblem[]) : [],
    fields: (details.fields ?? {}) as Record<string, string>,
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The session ended or never was. */
export function isSignedOut(error: unknown): boolean {
  if (!(error instanceof TRPCClientError)) return false
  return (error.data as { code?: string } | null | undefined)?.code === 'UNAUTHORIZED'
}

/** Asking again may help: nothing answered, or the server is busy. */
export function isWorthRetrying(error: unknown): boolean {
  const { code } = readFailure(error)
  return code === 'OFFLINE' || code === 'UNAVAILABLE'
}
