import { ConchError, parseJson } from '@conch/protocol'
import type { Code, Datatype, Parameters } from '@conch/protocol'

/** `[name, datatype, shape, place, offset, bytes]`: place 0 = in the frame's payload, 1 = in the sender's arena. */
export type TensorEntry = readonly [
  name: string,
  datatype: Datatype,
  shape: readonly number[],
  place: number,
  offset: number,
  bytes: number,
]

export type ErrorEntry = readonly [code: string, message: string]

export interface ResponseEntry {
  readonly out?: readonly TensorEntry[]
  /** JSON text of an object. */
  readonly params?: string
  readonly error?: ErrorEntry | null
  readonly again?: boolean
}

/** What a model wants to have run. */
export interface CallRequest {
  readonly model: string
  readonly version?: string | number
  readonly id?: string
  readonly seq?: string | { readonly s: string }
  readonly flags?: number
  readonly timeout?: number
  readonly params?: string
  readonly outs?: readonly string[]
  readonly in?: readonly TensorEntry[]
  /** What a request brought, handed back: the call is part of that request's trace. */
  readonly trace?: unknown
}

/** An entry of a file: path, offset and bytes in the payload. */
export type FileEntry = readonly [path: string, offset: number, bytes: number]

export interface CallFrame {
  readonly t: 'call'
  readonly c: number
  readonly what: string
  readonly request?: CallRequest
  /** On whose behalf a model is asked; null = nobody's. */
  readonly q?: number | null
  readonly decoupled?: boolean
  readonly of?: number
  readonly model?: string
  readonly version?: string
  readonly config?: string
  readonly files?: readonly FileEntry[]
  readonly dependents?: boolean
  readonly kind?: string
  readonly name?: string
  readonly description?: string
  readonly family?: number
  readonly series?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly buckets?: readonly number[] | null
  readonly op?: string
  readonly by?: number
}

/** Headers that a child sends (docs/python-wire.md). What does not have these forms makes its reader throw, and ends the child. */
export type ChildFrame = { readonly arena?: number } & (
  | { readonly t: 'up'; readonly python?: string; readonly numpy?: string }
  | { readonly t: 'completed'; readonly config: object }
  | { readonly t: 'ready'; readonly is_ready?: boolean }
  | { readonly t: 'failed'; readonly message: string }
  | {
      readonly t: 'done'
      readonly b: number
      readonly r?: readonly (ResponseEntry | null)[] | null
      readonly error?: string | null
    }
  | { readonly t: 'send'; readonly q: number; readonly response?: ResponseEntry | null; readonly final?: boolean }
  | { readonly t: 'dropped'; readonly q: number }
  | { readonly t: 'log'; readonly level: string; readonly text: string; readonly file?: string; readonly line?: number }
  | { readonly t: 'free'; readonly o: readonly number[] }
  | { readonly t: 'reply'; readonly c: number; readonly value?: unknown; readonly error?: ErrorEntry | null }
  | { readonly t: 'bye' }
  | CallFrame
)

const CODES = new Set<string>([
  'UNKNOWN',
  'INTERNAL',
  'NOT_FOUND',
  'INVALID_ARG',
  'UNAVAILABLE',
  'UNSUPPORTED',
  'ALREADY_EXISTS',
  'CANCELLED',
])

export function toError([code, message]: ErrorEntry): ConchError {
  return new ConchError(CODES.has(code) ? (code as Code) : 'INTERNAL', message)
}

export function toErrorEntry(error: unknown): ErrorEntry {
  if (error instanceof ConchError) return [error.code, error.message]
  return ['INTERNAL', error instanceof Error ? error.message : String(error)]
}

/** The parameters of a request or response; integers stay exact. */
export function readParameters(text: string): Parameters {
  const value = parseJson(Buffer.from(text))
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('parameters that are no object')
  return value as Parameters
}
