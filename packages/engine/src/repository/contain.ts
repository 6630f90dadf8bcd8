import { lstat, realpath } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { ConchError } from '@conch/protocol'

/** True when `path` is `root` or lies below it. Both absolute; no links are followed: pass real paths. */
export function isInside(root: string, path: string): boolean {
  const way = relative(resolve(root), resolve(path))
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way))
}

/** True for a name that is one plain path segment. */
export function isSegment(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name)
}

/**
 * The one way from a relative path that somebody wrote to a path on disk. Refuses what is absolute, climbs, holds NUL or
 * backslashes. The file need not exist and links are not followed: that is `resolveInside`.
 */
export function joinInside(root: string, written: string): string {
  const path = join(root, written)
  const odd = written === '' || isAbsolute(written) || /[\\\0]/.test(written)
  if (odd || !isInside(root, path)) {
    throw new ConchError('INVALID_ARG', `path '${printPath(written)}' must be relative and stay within its directory`)
  }
  return path
}

/**
 * Real path of an existing file or directory that was written relative to `base`; links are followed and must end inside
 * `root` (real paths both). Messages name the relative path only: clients see them.
 */
export async function resolveInside(root: string, base: string, written: string): Promise<string> {
  const path = joinInside(base, written)
  const real = await realpath(path)
  if (isInside(root, real)) return real
  throw new ConchError('INVALID_ARG', `'${printPath(written)}' ${await describeEscape(path)}`)
}

async function describeEscape(path: string): Promise<string> {
  const link = (await lstat(path)).isSymbolicLink()
  const what = link ? 'is a symbolic link that leaves' : 'lies behind a symbolic link that leaves'
  return `${what} the model repository; put the file itself there`
}

/** Control characters never reach a log or a client. */
export function printPath(path: string): string {
  return Array.from(path.slice(0, 300), (char) => (char < ' ' || char === '\x7f' ? '?' : char)).join('')
}
