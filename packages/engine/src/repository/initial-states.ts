import { open } from 'node:fs/promises'
import { ConchError } from '@conch/protocol'
import type { ModelConfig } from '@conch/protocol'
import { resolveInside } from './contain.ts'
import type { VersionPlan } from './contract.ts'
import { explainIo } from './explain-io.ts'

/** A state that begins with more than this is no state. */
const MAX_BYTES = 2 ** 30

/** The files that sequence states begin with, from the model's `initial_state` folder: name → bytes (sequence §5). */
export async function readInitialStates(
  config: ModelConfig,
  plan: Pick<VersionPlan, 'root' | 'model' | 'modelDirectory'>,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>()
  for (const { initial_state } of config.sequence_batching?.state ?? []) {
    const file = initial_state[0]?.data_file
    if (file !== undefined && !files.has(file)) files.set(file, await readOne(file, plan))
  }
  return files
}

async function readOne(
  file: string,
  { root, model, modelDirectory }: Pick<VersionPlan, 'root' | 'model' | 'modelDirectory'>,
): Promise<Uint8Array> {
  try {
    const handle = await open(await resolveInside(root, `${modelDirectory}/initial_state`, file))
    try {
      const { size } = await handle.stat()
      if (size > MAX_BYTES) throw new ConchError('INVALID_ARG', `initial state ${file} has ${size} bytes`)
      return new Uint8Array(await handle.readFile())
    } finally {
      await handle.close()
    }
  } catch (cause) {
    if (cause instanceof ConchError) throw cause
    throw explainIo(cause, 'open text file for read', `${model}/initial_state/${file}`)
  }
}
