import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ConchError } from '@conch/protocol'

/** Puts a file in place in one step: readers see the old bytes or the new ones. `work` lies on the same file system. */
export async function replaceFile(target: string, bytes: Uint8Array, work: string): Promise<void> {
  const temporary = join(work, 'file')
  try {
    const file = await open(temporary, 'wx', 0o644)
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    // A full disk can cut a write short without an error.
    const { size } = await stat(temporary)
    if (size !== bytes.byteLength)
      throw new ConchError('UNAVAILABLE', `only ${size} of ${bytes.byteLength} bytes were written`)
    await rename(temporary, target)
    await syncFolder(dirname(target))
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined)
    throw explainDisk(error)
  }
}

/** Copies and flushes one file, and reads it back: sizes and hashes of both sides must agree. */
export async function copyVerified(from: string, to: string): Promise<void> {
  try {
    await mkdir(dirname(to), { recursive: true, mode: 0o755 })
    const written = createHash('sha256')
    const target = await open(to, 'wx', 0o644)
    try {
      await pipeline(
        createReadStream(from),
        async function* (chunks: AsyncIterable<Buffer>) {
          for await (const chunk of chunks) {
            written.update(chunk)
            yield chunk
          }
        },
        async (chunks: AsyncIterable<Buffer>) => {
          for await (const chunk of chunks) await target.writeFile(chunk)
        },
      )
      await target.sync()
    } finally {
      await target.close()
    }
    if ((await hashFile(to)) !== written.digest('hex'))
      throw new ConchError('UNAVAILABLE', 'the copy does not read back as written')
  } catch (error) {
    throw explainDisk(error)
  }
}

export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** A rename is durable once its folder is flushed. */
export async function syncFolder(directory: string): Promise<void> {
  const folder = await open(directory, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

const DISK: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full; nothing was changed. Free some space and try again',
  EDQUOT: 'the disk quota is used up; nothing was changed',
  EROFS: 'the repository is on a read-only disk; nothing was changed',
  EACCES: 'the server may not write there; nothing was changed',
  EPERM: 'the server may not write there; nothing was changed',
}

/** The system's error in words, without its path. */
export function explainDisk(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const text = DISK[code]
  return text === undefined ? error : new ConchError('UNAVAILABLE', text, { cause: error })
}
