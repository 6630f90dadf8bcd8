import type { ConfigProblem, Inspection } from '@conch/server/schemas'
import { mergeProblems } from '../../ui/pbtxt/local-check.ts'

/**
 * Everything to be said about an upload and its config. A lone ONNX file that cannot be read is an error: there is
 * nothing else that could be served. Other warnings about files are for a person to weigh.
 */
export function listProblems(inspection: Inspection, config: readonly ConfigProblem[]): ConfigProblem[] {
  const severity = inspection.kind === 'onnx' && inspection.signature === null ? 'error' : 'warning'
  const warnings = inspection.warnings.map((message) => ({ ...NOWHERE, severity, message }) as const)
  // Problems with the files themselves have no place in the text, and stay whatever is typed.
  const lasting = inspection.problems.filter((problem) => problem.line === 0)
  return mergeProblems(warnings, lasting, config)
}

const NOWHERE = { line: 0, column: 0, from: 0, to: 0, path: '', expected: null, fix: null }
