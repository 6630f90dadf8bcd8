import type { ConfigProblem, PythonFailure } from '@conch/server/schemas'

/** The line of `model.py` where a version failed, as a problem that an editor can mark; null when it is elsewhere. */
export function markFailure(failure: PythonFailure, code: string): ConfigProblem | null {
  const frame = failure.frames.find(({ file }) => /^\d+\/model\.py$/.test(file))
  const lines = code.split('\n')
  const text = frame === undefined ? undefined : lines[frame.line - 1]
  if (frame === undefined || text === undefined) return null
  const start = lines.slice(0, frame.line - 1).reduce((sum, line) => sum + line.length + 1, 0)
  const indent = text.length - text.trimStart().length
  const place = { line: frame.line, column: indent + 1, from: start + indent, to: start + text.length }
  return { severity: 'error', message: failure.message, ...place, path: '', expected: null, fix: null }
}
