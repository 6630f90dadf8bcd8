import { describeConfig, type ConfigValue } from '@conch/engine'
import {
  checkConfig,
  completeConfig,
  parsePbtxt,
  type ModelConfig,
  type PbtxtTree,
  type Problem,
} from '@conch/protocol'
import type { ConfigProblem, EffectiveValue } from './model.schema.ts'

/** What is known of the files that the config is for. */
export interface DraftFiles {
  /** Names in the folder of the version it is for. */
  readonly versionFiles: readonly string[]
  /** Relative to the model's folder. */
  has(path: string): boolean
}
export interface CheckedText {
  readonly problems: readonly ConfigProblem[]
  readonly effective: readonly EffectiveValue[]
  /** Completed; of no use when `problems` holds syntax errors. */
  readonly config: ModelConfig
  readonly tree: PbtxtTree
}

const NO_FILES = { versionFiles: [], has: () => false }

/** Everything that is wrong with a config's text, by the rules that a load applies; nothing is run to find out. */
export function checkText(text: string, model: string, files?: DraftFiles): CheckedText {
  const parsed = parsePbtxt(text)
  const facts = {
    directoryName: model,
    versionFiles: (files ?? NO_FILES).versionFiles,
    preferredGroup: { kind: 'KIND_CPU', count: 1 } as const,
    gpus: [],
  }
  const config = completeConfig(parsed.config, facts)
  // Semantic complaints about a text that could not be read would be guesses.
  const broken = parsed.problems.some(({ severity }) => severity === 'error')
  const problems = broken ? [] : checkMeaning(config, { model, files, tree: parsed.tree })
  const written = { config: parsed.config, tree: parsed.tree, path: 'config.pbtxt', origin: 'file' as const }
  return {
    problems: [...parsed.problems, ...problems].map(toConfigProblem),
    effective: describeConfig({ config, plan: { config, written } }).map(toEffective),
    config,
    tree: parsed.tree,
  }
}

interface Meaning {
  readonly model: string
  readonly files: DraftFiles | undefined
  readonly tree: PbtxtTree
}

function checkMeaning(config: ModelConfig, { model, files, tree }: Meaning): readonly Problem[] {
  // Tensors that the config leaves out are filled in from the model's file at load; half of them cannot be judged before.
  const strictIo = config.input.length > 0 && config.output.length > 0
  return checkConfig(config, {
    strictIo,
    tree,
    ...(model === '' ? {} : { directoryName: model }),
    ...(files === undefined ? {} : { files: { directory: model, has: (path: string) => files.has(path) } }),
  })
}

/** Unplaced problems point at the first line: an editor can only show what is somewhere. */
function toConfigProblem(problem: Problem): ConfigProblem {
  const { severity, message, line, column, offset, length, path, expected, fix } = problem
  return {
    severity,
    message,
    line: Math.max(line, 1),
    column: Math.max(column, 1),
    from: offset,
    to: offset + length,
    path,
    expected: expected ?? null,
    fix: fix === undefined ? null : { title: fix.title, edits: fix.edits },
  }
}

export function toEffective({ path, value, origin }: ConfigValue): EffectiveValue {
  return { path, origin, value: Array.isArray(value) ? `[${value.map(String).join(', ')}]` : String(value) }
}

export function hasErrors(problems: readonly ConfigProblem[]): boolean {
  return problems.some(({ severity }) => severity === 'error')
}
