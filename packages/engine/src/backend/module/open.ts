import type { Backend } from '../contract.ts'
import { importModule } from './import-module.ts'
import { locateModule } from './locate.ts'
import { openOwnProcess } from './own-process.ts'

/** The custom backend of that name below `--backend-directory`; undefined when there is none. */
export async function openModule(root: string, name: string): Promise<Backend | undefined> {
  const origin = await locateModule(root, name)
  if (origin === undefined) return undefined
  return origin.settings.process === 'own' ? openOwnProcess(origin) : importModule(origin)
}
