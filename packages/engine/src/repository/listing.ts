import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { resolveInside } from './contain.ts'
import type { FetchedModel } from './contract.ts'

const MAX_FILES = 5_000
const MAX_CONFIG_BYTES = 4 * 1024 * 1024

export interface ListedFile {
  /** Relative to the model's directory, `/` between parts. */
  readonly path: string
  readonly size: number
  /** Milliseconds since the epoch. */
  readonly modified: number
}

/** The files of a model, sorted by path; what leaves the repository by a link is left out. */
export async function listFiles(root: string, directory: string): Promise<readonly ListedFile[]> {
  const files: ListedFile[] = []
  await collectFiles({ root, directory, files }, '', 0)
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

interface Listing {
  readonly root: string
  readonly directory: string
  readonly files: ListedFile[]
}

async function collectFiles(listing: Listing, folder: string, depth: number): Promise<void> {
  if (depth > 16) return
  for (const entry of await readdir(join(listing.directory, folder), { withFileTypes: true })) {
    if (listing.files.length >= MAX_FILES) return
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    const real = await resolveInside(listing.root, listing.directory, path).catch(() => undefined)
    if (real === undefined) continue
    const found = await stat(real)
    if (found.isDirectory() && entry.isDirectory()) await collectFiles(listing, path, depth + 1)
    else if (found.isFile()) listing.files.push({ path, size: found.size, modified: Math.round(found.mtimeMs) })
  }
}

/** The chosen config file as text; undefined when there is none or it is too long to be one. */
export async function readConfigText(model: FetchedModel): Promise<string | undefined> {
  if (model.configFile === undefined) return undefined
  const real = await resolveInside(model.root, model.directory, model.configFile)
  if ((await stat(real)).size > MAX_CONFIG_BYTES) return undefined
  return readFile(real, 'utf8')
}
