import type { Code } from '../status.ts'
import { planEdit } from './pbtxt/edit.ts'
import type { PbtxtTree } from './pbtxt/tree.ts'
import { locate } from './pbtxt/tree.ts'
import type { Fix, Problem } from './problem.ts'
import type { ModelConfig } from './schema.ts'

export interface CheckOptions {
  /** Also tensors, batch tensors and states: what the original checks at load, or at once without auto-complete. */
  readonly strictIo: boolean
  /** The name of the model's directory. */
  readonly directoryName?: string | undefined
  /** Ids of the GPUs that may be used; given, the instance groups are checked too. */
  readonly gpus?: readonly number[] | undefined
  /** Given, files that the config names are looked for. Paths are relative to the model's directory. */
  readonly files?: { readonly directory: string; has(path: string): boolean } | undefined
  /** The text that the config was read from: problems then carry line, column and fixes. */
  readonly tree?: PbtxtTree | undefined
}

/** A repair in terms of the configuration: the field at `path` becomes `value`; undefined removes it. */
export interface Repair {
  readonly title: string
  readonly path: string
  readonly value: unknown
}
export interface Note {
  readonly hint?: string | undefined
  readonly repair?: Repair | undefined
  readonly severity?: Problem['severity'] | undefined
  readonly code?: Code | undefined
}

/** More than anybody reads; the rest of a hostile config stays cheap. */
const MOST_PROBLEMS = 1000

/** Collects what is wrong; the first error is what the original would say. */
export class Complaints {
  readonly problems: Problem[] = []
  readonly config: ModelConfig
  readonly options: CheckOptions

  constructor(config: ModelConfig, options: CheckOptions) {
    this.config = config
    this.options = options
  }

  get isFull(): boolean {
    return this.problems.length >= MOST_PROBLEMS
  }

  /** `original` is the original's text, to the letter. */
  add(path: string, original: string, note: Note = {}): void {
    if (this.isFull) return
    const text = note.severity === undefined || note.severity === 'error' ? original : ''
    this.problems.push({
      severity: note.severity ?? 'error',
      message: note.hint === undefined ? original : `${original} (${note.hint})`,
      original: text,
      code: note.code ?? 'INVALID_ARG',
      ...this.place(path),
      path,
      fix: note.repair === undefined ? undefined : this.plan(note.repair),
    })
  }

  private place(path: string): Pick<Problem, 'line' | 'column' | 'offset' | 'length'> {
    const { tree } = this.options
    const origin = tree === undefined ? undefined : locate(tree, path)
    if (tree === undefined || origin === undefined) return { line: 0, column: 0, offset: 0, length: 0 }
    const lineStart = tree.text.lastIndexOf('\n', origin.start - 1) + 1
    const column = origin.start - lineStart + 1
    return { line: origin.line, column, offset: origin.start, length: origin.end - origin.start }
  }

  private plan(repair: Repair): Fix | undefined {
    const { tree } = this.options
    if (tree === undefined) return undefined
    const edits = planEdit(tree, repair.path, repair.value)
    return edits === undefined ? undefined : { title: repair.title, edits }
  }
}
