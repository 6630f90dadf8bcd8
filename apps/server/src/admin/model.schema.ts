import { z } from 'zod'

/** Models that are already on disk: their operators may have named them more freely than the console does. */
export const modelNameSchema = z
  .string()
  .min(1)
  .max(255)
  .refine((name) => name !== '.' && name !== '..' && !/[/\\\0]/.test(name), 'Not a model name')
export const versionSchema = z.string().regex(/^[0-9]{1,18}$/, 'A version is a whole number')
/** Labels come from a model's traffic policy. */
export const versionOrLabelSchema = z
  .string()
  .regex(/^([0-9]{1,18}|[A-Za-z_][A-Za-z0-9_.-]{0,62})$/, 'A version is a whole number or a label')
/** A config is a page of text, not a payload. */
export const configTextSchema = z.string().max(1_048_576, 'At most 1 MiB')

export type VersionState = 'UNKNOWN' | 'READY' | 'UNAVAILABLE' | 'LOADING' | 'UNLOADING'

export interface StateChange {
  readonly state: VersionState
  readonly reason: string
}

export interface EffectiveValue {
  /** As in `instance_group[0].count`. */
  readonly path: string
  readonly value: string
  readonly origin: 'file' | 'default' | 'auto-complete' | 'override'
}

/** One complaint about a config; offsets are UTF-16 positions in its text, lines and columns start at 1. */
export interface ConfigProblem {
  readonly severity: 'error' | 'warning' | 'hint'
  readonly message: string
  readonly line: number
  readonly column: number
  /** Where the complaint applies in the text, when it is about something that was written. */
  readonly from: number
  readonly to: number
  readonly path: string
  readonly expected: string | null
  readonly fix: { readonly title: string; readonly edits: readonly TextEdit[] } | null
}
export interface TextEdit {
  readonly from: number
  readonly to: number
  readonly insert: string
}

export interface FileRow {
  /** Relative to the model's directory, with forward slashes. */
  readonly path: string
  readonly size: number
  /** Milliseconds since the epoch. */
  readonly modified: number
  readonly sha256: string | null
}

/** An exception of a model's own code. */
export interface PythonFailure {
  /** As in `ValueError: too many rows`. */
  readonly message: string
  /** Innermost first, as in the message of the original. */
  readonly frames: readonly PythonFrame[]
}
export interface PythonFrame {
  /** Relative to the model's directory; of files elsewhere the last two parts. */
  readonly file: string
  readonly line: number
  /** Empty for the place of a syntax error. */
  readonly function: string
  /** The lines around it, when the file is the model's. */
  readonly excerpt: { readonly first: number; readonly lines: readonly string[] } | null
}

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue }
