import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'

/** A config.pbtxt and the model directory it belongs to. */
export interface FoundConfig {
  readonly file: string
  readonly directory: string
}

/** `given` may be a file, a model directory or a repository of them. Sorted; empty when there is none. */
export async function findConfigs(given: string): Promise<readonly FoundConfig[]> {
  if ((await stat(given)).isFile()) return [{ file: given, directory: path.dirname(given) }]
  const own = await ofModel(given)
  if (own.length > 0) return own
  const entries = await readdir(given, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink()).map((entry) => entry.name)
  const found = await Promise.all(names.sort().map((name) => ofModel(path.join(given, name))))
  return found.flat()
}

/** config.pbtxt and the variants below configs/. */
async function ofModel(directory: string): Promise<readonly FoundConfig[]> {
  const found: FoundConfig[] = []
  const file = path.join(directory, 'config.pbtxt')
  if (await isFile(file)) found.push({ file, directory })
  const variants = path.join(directory, 'configs')
  for (const name of (await list(variants)).filter((entry) => entry.endsWith('.pbtxt')).sort()) {
    found.push({ file: path.join(variants, name), directory })
  }
  return found
}

/** Names of the files in the newest version, for completing backend and platform. */
export async function listVersionFiles(directory: string): Promise<readonly string[]> {
  const versions = (await list(directory))
    .filter((name) => /^[1-9][0-9]*$/.test(name))
    .sort((a, b) => Number(b) - Number(a))
  const [newest] = versions
  return newest === undefined ? [] : list(path.join(directory, newest))
}

async function list(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory)
  } catch {
    return []
  }
}

async function isFile(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}
