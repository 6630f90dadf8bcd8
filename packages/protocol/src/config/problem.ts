import type { Code } from '../status.ts'

/** A change of the text: `from` … `to` (UTF-16 offsets) becomes `insert`. */
export interface TextEdit {
  readonly from: number
  readonly to: number
  readonly insert: string
}
export interface Fix {
  readonly title: string
  readonly edits: readonly TextEdit[]
}

/** Something wrong with a configuration, and what to do about it. */
export interface Problem {
  readonly severity: 'error' | 'warning' | 'hint'
  /** The original's text, then the facts and the advice that Conch adds. */
  readonly message: string
  /** The original's text alone; '' where the original says nothing. */
  readonly original: string
  readonly code: Code
  /** 1-based as the original counts: columns are UTF-8 bytes, a tab goes to the next multiple of 8. 0 = not located. */
  readonly line: number
  readonly column: number
  /** In UTF-16 units of the text given. */
  readonly offset: number
  readonly length: number
  /** As in `input[0].dims`; '' = the whole configuration. */
  readonly path: string
  readonly expected?: string | undefined
  readonly found?: string | undefined
  readonly fix?: Fix | undefined
}

/** Applies edits that do not overlap. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  const ordered = [...edits].sort((a, b) => a.from - b.from || a.to - b.to)
  let result = ''
  let at = 0
  for (const edit of ordered) {
    result += text.slice(at, edit.from) + edit.insert
    at = edit.to
  }
  return result + text.slice(at)
}
