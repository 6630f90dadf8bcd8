import { checkConfig, completeConfig, parsePbtxt, type Problem } from '@conch/protocol'
import type { ConfigProblem } from '@conch/server/schemas'

const GROUP = { kind: 'KIND_CPU', count: 1 } as const

/** What can be said without the server: the text itself, and the rules that need no files. */
export function checkText(text: string, model: string): ConfigProblem[] {
  const { config, tree, problems } = parsePbtxt(text)
  const broken = problems.some((problem) => problem.severity === 'error')
  // Without these the files decide, and only the server sees them.
  const known = config.backend !== '' || config.platform !== ''
  if (broken || !known) return problems.map(toConfigProblem)
  const complete = completeConfig(config, { directoryName: model, versionFiles: [], preferredGroup: GROUP, gpus: [] })
  const options = { strictIo: false, tree, ...(model === '' ? {} : { directoryName: model }) }
  return [...problems, ...checkConfig(complete, options)].map(toConfigProblem)
}

function toConfigProblem(problem: Problem): ConfigProblem {
  return {
    severity: problem.severity,
    message: problem.message,
    line: problem.line,
    column: problem.column,
    from: problem.offset,
    to: problem.offset + problem.length,
    path: problem.path,
    expected: problem.expected ?? null,
    fix: problem.fix ?? null,
  }
}

const WEIGHT = { error: 0, warning: 1, hint: 2 }

/** Errors first, then by place; the same complaint from two sources is shown once. */
export function mergeProblems(...lists: readonly (readonly ConfigProblem[])[]): ConfigProblem[] {
  const known = new Map<string, ConfigProblem>()
  for (const problem of lists.flat()) {
    const key = `${problem.line}:${problem.path}:${problem.message}`
    if (!known.has(key)) known.set(key, problem)
  }
  return [...known.values()].sort(
    (a, b) => WEIGHT[a.severity] - WEIGHT[b.severity] || a.line - b.line || a.column - b.column,
  )
}

export function hasErrors(problems: readonly ConfigProblem[]): boolean {
  return problems.some((problem) => problem.severity === 'error')
}
