import { constants } from 'node:fs'
import { access, lstat, mkdir, mkdtemp, readdir, realpath, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ConchError } from '@conch/protocol'
import { isInside, isPlainName } from './contain.ts'

/** Where half-made things live inside a repository: same file system, so that a rename is atomic; a dot-folder is no model. */
export const WORK_FOLDER = '.conch'

export interface RepositoryRoot {
  /** Absolute and real. */
  readonly path: string
  /** What people see instead of the path. */
  readonly display: string
}
export interface ModelFolder {
  readonly model: string
  readonly root: RepositoryRoot
  /** Absolute, inside the root. */
  readonly directory: string
}

/** The model repositories on this machine's disks. */
export interface Repositories {
  readonly roots: readonly RepositoryRoot[]
  find(model: string): Promise<ModelFolder | undefined>
  /** Throws NOT_FOUND in the words a person reads. */
  get(model: string): Promise<ModelFolder>
  isWritable(root: RepositoryRoot): Promise<boolean>
  /** An empty folder for work in progress, on the root's own file system. */
  makeWork(root: RepositoryRoot): Promise<string>
  /** Removes it, and what is in it. */
  dropWork(work: string): Promise<void>
  /** Removes what a crash left behind. */
  sweep(): Promise<void>
  /** Runs one change of a model at a time; a second one meanwhile is refused, not queued. */
  exclusive<T>(model: string, work: () => Promise<T>): Promise<T>
}

export async function openRepositories(paths: readonly string[]): Promise<Repositories> {
  const roots = await openRoots(paths)
  const busy = new Set<string>()
  async function find(model: string): Promise<ModelFolder | undefined> {
    if (!isPlainName(model)) return undefined
    for (const root of roots) {
      const directory = await realpath(join(root.path, model)).catch(() => undefined)
      if (directory !== undefined && isInside(root.path, directory) && directory !== root.path)
        return { model, root, directory }
    }
    return undefined
  }
  return {
    roots,
    find,
    async get(model) {
      const folder = await find(model)
      if (folder === undefined)
        throw new ConchError('NOT_FOUND', `no model repository here has a folder for '${model}'`)
      return folder
    },
    isWritable: (root) =>
      access(root.path, constants.W_OK).then(
        () => true,
        () => false,
      ),
    makeWork: (root) => makeWork(join(root.path, WORK_FOLDER)),
    async dropWork(work) {
      await rm(work, { recursive: true, force: true })
      await rmdir(dirname(work)).catch(() => undefined)
    },
    async sweep() {
      for (const root of roots) await sweepWork(join(root.path, WORK_FOLDER))
    },
    async exclusive(model, work) {
      const key = model.toLowerCase()
      if (busy.has(key))
        throw new ConchError('ALREADY_EXISTS', `another change of '${model}' is in progress; try again when it is done`)
      busy.add(key)
      try {
        return await work()
      } finally {
        busy.delete(key)
      }
    },
  }
}

async function makeWork(work: string): Promise<string> {
  await mkdir(work, { recursive: true, mode: 0o700 })
  // A link planted here would lead the next write elsewhere.
  if (!(await lstat(work)).isDirectory()) {
    throw new ConchError('UNAVAILABLE', `'${WORK_FOLDER}' in the repository is not a folder`)
  }
  const prefix = join(work, `${process.pid}-`)
  // Somebody else's work may have ended just now and taken the empty folder with it.
  return mkdtemp(prefix).catch(async () => {
    await mkdir(work, { recursive: true, mode: 0o700 })
    return mkdtemp(prefix)
  })
}

/** Leaves the work of another running server alone: each folder's name begins with its maker's process id. */
async function sweepWork(work: string): Promise<void> {
  const entries = await readdir(work).catch(() => [])
  for (const entry of entries) {
    if (isOther(Number.parseInt(entry, 10))) continue
    await rm(join(work, entry), { recursive: true, force: true }).catch(() => undefined)
  }
  await rmdir(work).catch(() => undefined)
}

function isOther(pid: number): boolean {
  if (!(pid > 0) || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Roots that are not there yet are shown, but hold nothing. */
async function openRoots(paths: readonly string[]): Promise<readonly RepositoryRoot[]> {
  const names = paths.map((path) => basename(path) || path)
  return Promise.all(
    paths.map(async (path, i) => {
      const name = names[i] ?? path
      const display = names.indexOf(name) === i && names.lastIndexOf(name) === i ? name : `${name} (${i + 1})`
      return { path: await realpath(path).catch(() => path), display }
    }),
  )
}

/** Version folders, lowest first. `01` is not one: the original ignores it too. */
export async function listVersions(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isDirectory() && /^(0|[1-9][0-9]{0,17})$/.test(entry.name))
    .map((entry) => entry.name)
    .sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
}
