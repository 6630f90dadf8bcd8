import { isAbsolute, relative, sep } from 'node:path'

/** True when `path` is `root` or lies below it; absolute both, links are not followed: pass real paths. */
export function isBelow(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
