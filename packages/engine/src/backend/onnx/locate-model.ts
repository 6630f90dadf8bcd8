import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { ConchError } from '@conch/protocol'
import type { ModelConfig } from '@conch/protocol'
import type { BackendContext } from '../contract.ts'
import type { ModelFile } from './session.ts'

const DEFAULT_NAME = 'model.onnx'

/** The version's model file; a directory of that name holds one called `model.onnx`, with its weights beside it. */
export async function locateModel(config: ModelConfig, context: BackendContext): Promise<ModelFile> {
  const name = config.default_model_filename === '' ? DEFAULT_NAME : config.default_model_filename
  const shown = `${config.name}/${context.version}`
  const path = join(context.versionDirectory, name)
  const shownAs = `${shown}/${name}`
  if (!(await find(path, shownAs)).isDirectory()) return { path, shownAs }
  const inner = { path: join(path, DEFAULT_NAME), shownAs: `${shownAs}/${DEFAULT_NAME}` }
  await find(inner.path, inner.shownAs)
  return inner
}

async function find(path: string, shownAs: string) {
  try {
    return await stat(path)
  } catch (cause) {
    const facts = `the version's directory has no readable ${basename(shownAs)}`
    throw new ConchError('INTERNAL', `failed to stat file ${shownAs}: ${facts}`, { cause })
  }
}
