import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ConchError } from '@conch/protocol'
import type { ModelConfig } from '@conch/protocol'
import type { BackendContext } from '../contract.ts'
import { FORBIDDEN } from './settings.ts'

const DEFAULT_NAME = 'model.py'
/** The version's Python file. Throws at once when there is none: the original waits for a process that never starts. */
export async function locateModel(config: ModelConfig, context: BackendContext): Promise<string> {
  checkName(config.name)
  const name = config.default_model_filename === '' ? DEFAULT_NAME : config.default_model_filename
  if (!name.endsWith('.py')) {
    throw new ConchError('INVALID_ARG', `Model name must end with '.py'. Model name is "${name}".`)
  }
  const path = join(context.versionDirectory, name)
  try {
    if ((await stat(path)).isFile()) return path
  } catch {
    // Told below.
  }
  throw new ConchError('INTERNAL', `Python model file not found in '${config.name}/${context.version}/${name}'`)
}

/** Names of models and instances. */
export function checkName(name: string): void {
  if (FORBIDDEN.test(name)) throw new ConchError('INVALID_ARG', 'Invalid stub name: contains invalid characters')
}
