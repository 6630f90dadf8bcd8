import { readFile } from 'node:fs/promises'
import { ConchError, parseConfigJson } from '@conch/protocol'
import type { ModelConfig } from '@conch/protocol'

/** A class of its own, without a decorator and without a class that it inherits from. */
const PLAIN_CLASS = /(?:^|\n)(?!@)[^\n]*\nclass[ \t]+TritonPythonModel[ \t]*(?:\([ \t]*(?:object[ \t]*)?\)[ \t]*)?:/

/**
 * Whether the model may have an `auto_complete_config`. Starting Python to hear that it has none would double the time of a
 * load. What the text does not show plainly is asked.
 */
export async function mayComplete(file: string): Promise<boolean> {
  const text = `\n\n${await readFile(file, 'utf8')}`
  return text.includes('auto_complete_config') || !PLAIN_CLASS.test(text)
}

/** The config that a model returned. */
export function readCompleted(config: object, model: string): ModelConfig {
  const { config: completed, problems } = parseConfigJson(JSON.stringify(config))
  const worst = problems.find(({ severity }) => severity === 'error')
  if (worst === undefined) return completed
  throw new ConchError(
    'INVALID_ARG',
    `auto_complete_config of model '${model}' returned a config with a mistake: ${worst.message}`,
  )
}
