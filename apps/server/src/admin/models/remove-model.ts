import type { AdminContext } from '../context.ts'
import { moveToTrash } from './trash.ts'

/** Unloads it, then moves its whole folder to the trash. */
export async function removeModel(
  { services, audit }: AdminContext,
  { model }: { model: string },
): Promise<{ model: string }> {
  const { engine, repositories } = services
  return repositories.exclusive(model, async () => {
    const folder = await repositories.get(model)
    const served = (await engine.index(false)).some(
      ({ name, state }) => name === model && (state === 'READY' || state === 'LOADING'),
    )
    if (served && services.server.controlMode === 'explicit') await engine.unload(model, false)
    audit.detail = `→ trash/${await moveToTrash(services, folder, { path: folder.directory, label: model })}`
    return { model }
  })
}
