import { link, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ConchError } from '@conch/protocol'
import { listFolder } from '../model-files.ts'
import { syncFolder } from '../write-file.ts'

interface Placement {
  /** The finished model folder, on the repository's own file system. */
  readonly made: string
  /** The model's folder in the repository. */
  readonly target: string
  readonly work: string
  readonly version: string
  /** False keeps the config and the other files that are there already. */
  readonly overwriteConfig: boolean
}

/**
 * Adds a version to a model that exists: first the version's folder, whole, then the model's own files, the config last.
 * Each step is one rename; a failing one takes back those before it.
 */
export async function putInPlace({ made, target, work, version, overwriteConfig }: Placement): Promise<void> {
  const undo: (() => Promise<void>)[] = []
  try {
    await step(undo, { from: join(made, version), to: join(target, version), aside: undefined })
    const rest = (await listFolder(made)).map(({ path }) => path).filter((path) => path !== 'config.pbtxt')
    for (const [i, path] of [...rest, 'config.pbtxt'].entries()) {
      const to = join(target, path)
      const present = await exists(to)
      if (present && !overwriteConfig) continue
      await mkdir(dirname(to), { recursive: true, mode: 0o755 })
      await step(undo, { from: join(made, path), to, aside: present ? join(work, `old-${i}`) : undefined })
    }
    await syncFolder(target)
  } catch (error) {
    for (const back of undo.toReversed()) await back().catch(() => undefined)
    throw error
  }
}

interface Step {
  readonly from: string
  readonly to: string
  /** Where the file that is there now is kept until all is done. */
  readonly aside: string | undefined
}

async function step(undo: (() => Promise<void>)[], { from, to, aside }: Step): Promise<void> {
  if (aside === undefined) {
    if (await exists(to)) await refuseFilled(to)
    await rename(from, to)
    undo.push(() => rm(to, { recursive: true, force: true }))
    return
  }
  // A second name for the old file: the rename below replaces it in one step, so there is never none.
  await link(to, aside)
  undo.push(() => rename(aside, to))
  await rename(from, to)
}

async function refuseFilled(folder: string): Promise<void> {
  const entries = await readdir(folder).catch(() => ['?'])
  if (entries.length > 0) throw new ConchError('ALREADY_EXISTS', 'that version appeared in the repository meanwhile')
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}
