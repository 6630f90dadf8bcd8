import { constants } from 'node:fs'
import { open, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ConchError, MAX_TRAFFIC_BYTES, TRAFFIC_FILE } from '@conch/protocol'
import { resolveInside } from './contain.ts'
import { explainIo } from './explain-io.ts'

/** Where a model lies: real paths, as a source gives them. */
export interface ModelPlace {
  readonly directory: string
  readonly root: string
}

/** Written first, then renamed; what a crash leaves behind is overwritten the next time. */
const DRAFT = `.${TRAFFIC_FILE}.new`

/** Files of a model that are not the model: changing them reloads nothing. */
export function isTrafficFile(name: string): boolean {
  return name === TRAFFIC_FILE || name === DRAFT
}

/** The text of a model's traffic policy; undefined = it has none. */
export async function readTrafficFile({ directory, root }: ModelPlace): Promise<string | undefined> {
  try {
    const real = await resolveInside(root, directory, TRAFFIC_FILE)
    const found = await stat(real)
    if (!found.isFile()) throw new ConchError('INVALID_ARG', `${TRAFFIC_FILE} is no file`)
    if (found.size > MAX_TRAFFIC_BYTES) {
      throw new ConchError(
        'INVALID_ARG',
        `${TRAFFIC_FILE} has ${found.size} bytes, at most ${MAX_TRAFFIC_BYTES} are read`,
      )
    }
    return await readFile(real, 'utf8')
  } catch (cause) {
    if (cause instanceof ConchError) throw cause
    if (isMissing(cause)) return undefined
    throw explainIo(cause, 'open text file for read', TRAFFIC_FILE)
  }
}

/** Puts the file in place in one step: readers see the old text or the new one. Undefined removes it. */
export async function writeTrafficFile({ directory }: ModelPlace, text: string | undefined): Promise<void> {
  const draft = join(directory, DRAFT)
  try {
    if (text === undefined) return await rm(join(directory, TRAFFIC_FILE), { force: true })
    const bytes = Buffer.from(text)
    const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants
    const file = await open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o644)
    try {
      await file.writeFile(bytes)
      await file.sync()
      // A full disk can cut a write short without an error.
      const { size } = await file.stat()
      if (size !== bytes.length)
        throw new ConchError('UNAVAILABLE', `only ${size} of ${bytes.length} bytes were written`)
    } finally {
      await file.close()
    }
    await rename(draft, join(directory, TRAFFIC_FILE))
    await syncDirectory(directory)
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => undefined)
    if (cause instanceof ConchError) throw cause
    throw explainIo(cause, 'write', TRAFFIC_FILE)
  }
}

/** A rename is durable once its directory is flushed. */
async function syncDirectory(directory: string): Promise<void> {
  const folder = await open(directory, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}
