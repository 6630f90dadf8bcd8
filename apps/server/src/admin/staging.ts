import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ConchError } from '@conch/protocol'

/** A finished upload, as the upload store knows it. */
export interface StoredUpload {
  readonly id: string
  /** Absolute path of its bytes. */
  readonly path: string
  readonly size: number
  /** As the client named it; never used as a path. */
  readonly filename: string
}

export interface UploadStore {
  /** Throws NOT_FOUND for unknown ids and UNAVAILABLE for unfinished uploads. */
  get(id: string): Promise<StoredUpload>
  remove(id: string): Promise<void>
}

/** Uploads on their way into a repository: laid out as a model's folder, outside of any repository. */
export interface Staging {
  readonly uploads: UploadStore
  /** A new, empty model folder. */
  create(): Promise<{ readonly id: string; readonly directory: string }>
  /** The folder of an id; throws NOT_FOUND. */
  get(id: string): Promise<string>
  discard(id: string): Promise<void>
}

/** Abandoned work is removed after this long. */
const KEEP_MS = 12 * 3600 * 1000

export async function openStaging(
  directory: string,
  uploads: UploadStore,
  now: () => number = Date.now,
): Promise<Staging> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const pathOf = (id: string) => {
    if (!/^[0-9a-f]{32}$/.test(id)) throw new ConchError('INVALID_ARG', 'not the id of staged files')
    return join(directory, id)
  }
  async function sweep(): Promise<void> {
    for (const entry of await readdir(directory)) {
      const { mtimeMs } = await stat(join(directory, entry)).catch(() => ({ mtimeMs: now() }))
      if (mtimeMs < now() - KEEP_MS) await rm(join(directory, entry), { recursive: true, force: true })
    }
  }
  await sweep()
  return {
    uploads,
    async create() {
      await sweep()
      const id = randomBytes(16).toString('hex')
      await mkdir(pathOf(id), { mode: 0o700 })
      return { id, directory: pathOf(id) }
    },
    async get(id) {
      const found = await stat(pathOf(id)).catch(() => undefined)
      if (found === undefined)
        throw new ConchError(
          'NOT_FOUND',
          'these files are gone: they were published, discarded or too old; upload them again',
        )
      return pathOf(id)
    },
    discard: (id) => rm(pathOf(id), { recursive: true, force: true }),
  }
}
