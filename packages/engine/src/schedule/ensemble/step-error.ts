import { ConchError } from '@conch/protocol'
import type { Code } from '@conch/protocol'

/** A step's failure: the original's text, and behind it the way to the step through nested ensembles. */
class StepError extends ConchError {
  readonly text: string
  readonly path: string

  constructor(code: Code, words: { readonly text: string; readonly path: string }, cause: unknown) {
    const { text, path } = words
    super(code, `${text}${text.endsWith(' ') ? '' : ' '}(${path})`, { cause })
    this.text = text
    this.path = path
  }
}

/** `step`: as in the config, counted from 1. */
export function describeStepError(
  ensemble: string,
  step: { readonly number: number; readonly model: string },
  error: unknown,
) {
  const own = `step ${step.number} '${step.model}'`
  if (error instanceof StepError) {
    return new StepError(error.code, { text: prefix(ensemble, error.text), path: `${own}, ${error.path}` }, error)
  }
  const { code, text } = read(error)
  if (code === 'CANCELLED' && text === '') return new ConchError(code, prefix(ensemble, text), { cause: error })
  return new StepError(code, { text: prefix(ensemble, text), path: own }, error)
}

export function describeOwnError(ensemble: string, error: unknown): ConchError {
  const { code, text } = read(error)
  return new ConchError(code, prefix(ensemble, text), { cause: error })
}

function read(error: unknown): { readonly code: Code; readonly text: string } {
  const code = error instanceof ConchError ? error.code : 'INTERNAL'
  return { code, text: error instanceof Error ? error.message : String(error) }
}

function prefix(ensemble: string, text: string): string {
  return `in ensemble '${ensemble}', ${text}`
}
