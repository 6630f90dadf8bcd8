import { createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const MAX_BYTES = 16 * 1024 * 1024
const MAX_FILES = 100

/** One name per content: an environment is built again when one of the parts changes. */
export function hashParts(parts: readonly string[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(`${part.length}:${part}`)
  return hash.digest('hex').slice(0, 32)
}

/**
 * Everything that a requirements file says: its text, the files it includes (`-r`, `-c`) and what it names on this
 * machine, the latter by size and time.
 */
export async function fingerprintRequirements(path: string): Promise<string> {
  const hash = createHash('sha256')
  await addRequirements(path, hash, new Set())
  return hash.digest('hex')
}

/** A lock file and the project it belongs to. */
export async function fingerprintLock(path: string): Promise<string> {
  const hash = createHash('sha256')
  for (const file of [path, join(dirname(path), 'pyproject.toml')]) hash.update(await readText(file)).update('\0')
  return hash.digest('hex')
}

async function addRequirements(path: string, hash: Hash, seen: Set<string>): Promise<void> {
  if (seen.has(path) || seen.size >= MAX_FILES) return
  seen.add(path)
  const text = await readText(path)
  hash.update(text).update('\0')
  for (const line of text.split('\n')) {
    const included = /^\s*(?:-r|--requirement|-c|--constraint)[\s=]+(\S+)/.exec(line)?.[1]
    if (included !== undefined && !included.includes('://')) {
      await addRequirements(resolve(dirname(path), included), hash, seen)
    }
    const local = findLocal(line)
    // As pip does: relative to the directory in which it is run, which is the model's.
    if (local !== undefined) await addPath(resolve(dirname(path), local), hash)
  }
}

/** A wheel, a source tree or a directory of wheels that a line names. */
function findLocal(line: string): string | undefined {
  const [, url] = /(file:\/\/\S+)/.exec(line) ?? []
  if (url !== undefined) return parseUrl(url)
  const [, named] = /^\s*(?:-e|--editable|-f|--find-links)[\s=]+(\S+)/.exec(line) ?? []
  if (named !== undefined) return named.includes('://') ? undefined : named
  return /^\s*(\.{0,2}\/\S*|\S+\.whl)/.exec(line)?.[1]
}

function parseUrl(url: string): string | undefined {
  try {
    return fileURLToPath(url.replace(/#.*/, ''))
  } catch {
    return undefined
  }
}

/** One level deep: changes below it show in the times of what is there. */
async function addPath(path: string, hash: Hash): Promise<void> {
  try {
    const facts = await stat(path)
    hash.update(`${path}:${facts.size}:${facts.mtimeMs}\0`)
    if (!facts.isDirectory()) return
    for (const name of (await readdir(path)).toSorted().slice(0, 10_000)) {
      const { size, mtimeMs } = await stat(join(path, name))
      hash.update(`${name}:${size}:${mtimeMs}\0`)
    }
  } catch {
    hash.update(`${path}:missing\0`)
  }
}

async function readText(path: string): Promise<string> {
  try {
    const { size } = await stat(path)
    return size > MAX_BYTES ? `${size} bytes` : await readFile(path, 'utf8')
  } catch {
    return ''
  }
}
