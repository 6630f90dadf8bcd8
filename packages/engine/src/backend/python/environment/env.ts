import { homedir, tmpdir, userInfo } from 'node:os'
import { delimiter, isAbsolute, join } from 'node:path'

/** The server's own variables, as its children inherit them. */
export function readProcessEnvironment(): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [name, value] of Object.entries(process.env)) if (value !== undefined) found[name] = value
  return found
}

/** Below the user's cache directory, which is the user's own: what lies in it is run. */
export function chooseCacheDirectory(): string {
  const { XDG_CACHE_HOME: xdg = '' } = process.env
  if (isAbsolute(xdg)) return join(xdg, 'conch', 'environments')
  const home = homedir()
  if (home === '' || home === '/') return join(tmpdir(), `conch-${userInfo().uid}`, 'environments')
  const caches = process.platform === 'darwin' ? ['Library', 'Caches'] : ['.cache']
  return join(home, ...caches, 'conch', 'environments')
}

/** Directories in which programs are looked for. */
export function listProgramDirectories(env: Readonly<Record<string, string>>): readonly string[] {
  return (env['PATH'] ?? '').split(delimiter).filter((directory) => isAbsolute(directory))
}
