import { checkConfig, completeBackend, ConchError, normaliseConfig, parseConfigJson, parsePbtxt } from '@conch/protocol'
import type { CheckOptions, ModelConfig, Problem } from '@conch/protocol'
import type { ConfigReader, WrittenConfig } from './repository/contract.ts'

/** Reads configs by the rules of the protocol package; the first complaint becomes the error, the rest are counted. */
export function createConfigReader(autoComplete: boolean): ConfigReader {
  return {
    parseText(content, path) {
      const { config, tree, problems } = parsePbtxt(content)
      const prefix = `failed to read text proto from ${path}: Error parsing text-format inference.ModelConfig: `
      throwFirst(problems, (problem) => prefix + placeProblem(problem, path))
      return { config, tree, path, origin: 'file' }
    },
    parseJson(text) {
      const { config, problems } = parseConfigJson(text)
      throwFirst(problems, (problem) => `Invalid config override: ${problem.message}`)
      return { config, tree: undefined, path: '', origin: 'override' }
    },
    empty() {
      return { ...readEmpty(), tree: undefined, path: '', origin: 'none' }
    },
    complete(written, model, files) {
      if (written.origin === 'none' && !autoComplete) {
        throw new ConchError(
          'NOT_FOUND',
          `failed to open text file for read ${model}/config.pbtxt: No such file or directory`,
        )
      }
      const facts = { directoryName: model, versionFiles: files }
      const config = normaliseConfig(completeBackend(written.config, facts))
      const problems = checkConfig(config, { strictIo: !autoComplete, directoryName: model, tree: written.tree })
      throwFirst(problems, (problem) => problem.original + explainProblem(problem, written.path))
      return config
    },
  }
}

function readEmpty(): { config: ModelConfig } {
  return { config: parsePbtxt('').config }
}

/** Throws the original's text and nothing else: what the original says at load. `note` takes the facts behind it. */
export function complain(
  config: ModelConfig,
  written: WrittenConfig,
  check: CheckOptions & { readonly note: (text: string) => void },
): void {
  const problems = checkConfig(config, { ...check, tree: written.tree })
  throwFirst(
    problems,
    (problem) => {
      check.note(
        `${config.name}: ${problem.message}${explainProblem({ ...problem, message: problem.original }, written.path)}`,
      )
      return problem.original
    },
    false,
  )
}

function throwFirst(problems: readonly Problem[], describe: (problem: Problem) => string, counts = true): void {
  const errors = problems.filter((problem) => problem.severity === 'error')
  const first = errors[0]
  if (first === undefined) return
  const more = counts && errors.length > 1 ? ` [and ${errors.length - 1} more]` : ''
  throw new ConchError(first.code, describe(first) + more)
}

/** A complaint about the text itself: the original's words first, then what was expected, field, file and fix. */
function placeProblem(problem: Problem, path: string): string {
  const { message, expected = '', path: field } = problem
  const wanted = expected !== '' && expected.length < 80 ? `expected ${expected}; ` : ''
  const where = field === '' ? path : `field ${field} in ${path}`
  return `${message} (${wanted}${where}${printFix(problem)})`
}

/** A complaint about the meaning: the original's text first, then field, place and fix. */
function explainProblem(problem: Problem, path: string): string {
  const extra = problem.message.slice(problem.original.length).trim()
  const place = problem.line > 0 ? `${path}:${problem.line}:${problem.column}, ` : ''
  const field = problem.path === '' ? '' : `field ${problem.path}`
  const facts = `${place}${field}${printFix(problem)}`
  return `${extra === '' ? '' : ` ${extra}`}${facts === '' ? '' : ` (${facts})`}`
}

function printFix({ fix }: Problem): string {
  return fix === undefined ? '' : `; fix: ${fix.title}`
}
