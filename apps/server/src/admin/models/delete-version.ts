import { join } from 'node:path'
import { ConchError } from '@conch/protocol'
import type { AdminContext } from '../context.ts'
import type { StateChange } from '../model.schema.ts'
import { readStateOf } from '../model-state.ts'
import { listVersions } from '../repositories.ts'
import { moveToTrash } from './trash.ts'

interface Input {
  readonly model: string
  readonly version: string
}

/** The last version goes with its model: an empty model folder could not be loaded again. */
export async function deleteVersion(
  { services, audit }: AdminContext,
  { model, version }: Input,
): Promise<StateChange> {
  const { engine, repositories } = services
  return repositories.exclusive(model, async () => {
    const folder = await repositories.get(model)
    const versions = await listVersions(folder.directory)
    if (!versions.includes(version)) throw new ConchError('NOT_FOUND', `model '${model}' has no version ${version}`)
    if (versions.length === 1) {
      throw new ConchError('INVALID_ARG', `version ${version} is the only one of '${model}'; remove the model instead`)
    }
    const served = (await engine.index(true)).some((entry) => entry.name === model)
    const path = join(folder.directory, version)
    audit.detail = `version ${version} → trash/${await moveToTrash(services, folder, { path, label: `${model}-${version}` })}`
    // Loading anew applies the version policy to what is left and lets go of the one that went.
    if (served && services.server.controlMode === 'explicit') await engine.load(model)
    return readStateOf(engine, model)
  })
}
