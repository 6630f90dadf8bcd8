import { realpath } from 'node:fs/promises'
import { isAbsolute, join, relative, sep } from 'node:path'
import { ConchError } from '@conch/protocol'

/** One folder name: no separators, no way up, nothing hidden. */
export function isPlainName(name: string): boolean {
  return name.length > 0 && name.length <= 255 && !name.startsWith('.') && !/[/\\\0]/.test(name)
}

/** Splits a relative path with forward slashes; undefined when it could mean anything outside. */
export function splitRelative(path: string): readonly string[] | undefined {
  if (path.length === 0 || path.length > 4096 || /^[A-Za-z]:/.test(path)) return undefined
  const parts = path.split('/')
  // Control characters and backslashes have no honest use in a model's files.
  // oxlint-disable-next-line no-control-regex
  const odd = (part: string) =>
    part === '' || part === '.' || part === '..' || part.length > 255 || /[\\\u0000-\u001f]/.test(part)
  return parts.some(odd) ? undefined : parts
}

/** True for `root` itself and what lies below it; both absolute and real. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}

/**
 * The one way from a client's path to a file. Symbolic links are followed first: what counts is where they end.
 * Missing, forbidden and outside answer the same, so that nobody can ask what exists elsewhere.
 */
export async function resolveInside(root: string, path: string): Promise<string> {
  const parts = splitRelative(path)
  if (parts === undefined) throw new ConchError('INVALID_ARG', `'${path.slice(0, 200)}' is not a path inside the model`)
  const missing = () => new ConchError('NOT_FOUND', `there is no file '${path.slice(0, 200)}'`)
  const [base, target] = await Promise.all([realpath(root), realpath(join(root, ...parts))]).catch(() => {
    throw missing()
  })
  if (!isInside(base, target)) throw missing()
  return target
}
