import { cp, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Services } from '../context.ts'
import type { ModelFolder } from '../repositories.ts'
import { explainDisk, syncFolder } from '../write-file.ts'

/**
 * Takes a folder out of the repository in one step, then keeps it in the data directory's trash: a mistake can be
 * undone by moving it back. `label` becomes part of the trash folder's name.
 */
export async function moveToTrash(
  services: Services,
  folder: ModelFolder,
  target: { path: string; label: string },
): Promise<string> {
  const work = await services.repositories.makeWork(folder.root)
  try {
    const aside = join(work, 'gone')
    await rename(target.path, aside)
    await syncFolder(join(target.path, '..'))
    const trash = join(services.dataDirectory, 'trash')
    await mkdir(trash, { recursive: true, mode: 0o700 })
    const name = `${new Date().toISOString().replaceAll(':', '-')}-${target.label}`
    await moveAcross(aside, join(trash, name)).catch(async (error: unknown) => {
      // No room in the trash: put it back rather than lose it.
      await rename(aside, target.path)
      throw error
    })
    return name
  } catch (error) {
    throw explainDisk(error)
  } finally {
    await services.repositories.dropWork(work)
  }
}

async function moveAcross(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error
    await cp(from, to, { recursive: true, errorOnExist: true, force: false }).catch(async (failure: unknown) => {
      await rm(to, { recursive: true, force: true })
      throw failure
    })
  }
}
