import { mkdir, mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { ConchError } from '@conch/protocol'
import { joinInside, printPath } from './contain.ts'

const MAX_FILES = 2_000

/** A directory that holds nothing but the files of one load call. */
export interface PrivateDirectory {
  readonly directory: string
  readonly discard: () => Promise<void>
}

/** Writes the files of a load call into a fresh private directory; leaves nothing behind when one is refused. */
export async function writePrivateDirectory(files: ReadonlyMap<string, Uint8Array>): Promise<PrivateDirectory> {
  if (files.size > MAX_FILES) {
    throw new ConchError('INVALID_ARG', `a load call may carry at most ${MAX_FILES} files, got ${files.size}`)
  }
  const directory = await makePlace()
  const discard = () => rm(directory, { recursive: true, force: true })
  try {
    for (const [path, content] of files) await writeInside(directory, path, content)
  } catch (error) {
    await discard()
    throw error
  }
  return { directory, discard }
}

async function makePlace(): Promise<string> {
  try {
    return await realpath(await mkdtemp(join(tmpdir(), 'conch-model-')))
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error'
    const text = `the files of a load call cannot be stored: no directory can be made for them (${code}), see TMPDIR`
    throw new ConchError('INTERNAL', text, { cause })
  }
}

async function writeInside(directory: string, path: string, content: Uint8Array): Promise<void> {
  const target = placeFile(directory, path)
  const name = `Invalid file parameter 'file:${printPath(path)}'`
  try {
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    await writeFile(target, content, { flag: 'wx', mode: 0o600 })
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? ''
    const clash = code === 'ENOTDIR' || code === 'EEXIST'
    const folder = clash && (await stat(target).catch(() => undefined))?.isDirectory() === true
    if (folder || code === 'EISDIR')
      throw new ConchError('INVALID_ARG', `${name}, file has been created as a directory`)
    if (clash) throw new ConchError('INVALID_ARG', `${name}, directory has been created as a file`)
    const room = code === 'ENOSPC' ? 'no space left for it' : `it cannot be written (${code})`
    throw new ConchError('INVALID_ARG', `${name}, ${room}`, { cause })
  }
}

function placeFile(directory: string, path: string): string {
  try {
    const target = joinInside(directory, path)
    if (target !== directory && !path.endsWith('/')) return target
  } catch {
    // Named below, in the original's words.
  }
  const normalized = printPath(posix.normalize(`/${path}`))
  const what = `Invalid file parameter 'file:${printPath(path)}' with normalized path '${normalized}'`
  throw new ConchError('INVALID_ARG', `${what} must stay within model directory.`)
}
