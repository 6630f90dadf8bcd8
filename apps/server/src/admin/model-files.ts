import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { resolveInside } from './contain.ts'
import type { FileRow } from './model.schema.ts'
import type { ModelFolder } from './repositories.ts'

const MAX = { files: 5000, depth: 16, readme: 262_144, samples: 100 }

/** Regular files below a folder, sorted; links are not followed. */
export async function listFolder(directory: string): Promise<readonly FileRow[]> {
  const rows: FileRow[] = []
  async function walk(folder: string, depth: number): Promise<void> {
    for (const entry of await readdir(join(directory, folder), { withFileTypes: true })) {
      if (rows.length >= MAX.files || depth > MAX.depth) return
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) await walk(path, depth + 1)
      if (!entry.isFile()) continue
      const { size, mtimeMs } = await stat(join(directory, path))
      rows.push({ path, size, modified: Math.round(mtimeMs), sha256: null })
    }
  }
  await walk('', 0)
  return rows.sort((a, b) => (a.path < b.path ? -1 : 1))
}

export async function readReadme(directory: string): Promise<string | null> {
  const names = await readdir(directory)
  const name = names.find((entry) => /^readme(\.md|\.txt)?$/i.test(entry))
  if (name === undefined) return null
  const path = await resolveInside(directory, name).catch(() => undefined)
  if (path === undefined) return null
  const { size } = await stat(path)
  return size > MAX.readme ? null : readFile(path, 'utf8')
}

/** `samples/` of the model, and `samples/<model>/` beside the repository; the latter are told by their leading `../`. */
export const SAMPLES_BESIDE = '../samples/'

export async function listSamples(folder: ModelFolder): Promise<readonly { name: string; path: string }[]> {
  const own = await listNames(join(folder.directory, 'samples'))
  const beside = await listNames(besideFolder(folder))
  return [
    ...own.map((name) => ({ name, path: `samples/${name}` })),
    ...beside.map((name) => ({ name, path: `${SAMPLES_BESIDE}${name}` })),
  ].slice(0, MAX.samples)
}

/** The file that a client's path names: one of the model's, or one of its samples beside the repository. */
export function resolveModelFile(folder: ModelFolder, path: string): Promise<string> {
  if (!path.startsWith(SAMPLES_BESIDE)) return resolveInside(folder.directory, path)
  return resolveInside(besideFolder(folder), path.slice(SAMPLES_BESIDE.length))
}

function besideFolder({ root, model }: ModelFolder): string {
  return join(root.path, '..', 'samples', model)
}

async function listNames(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map(({ name }) => name)
    .sort()
}

/** Names in the version folder with the highest number. */
export function namesOfNewest(paths: readonly string[]): readonly string[] {
  const versioned = paths.flatMap((path) => {
    const [, version, name] = /^([1-9][0-9]{0,17})\/([^/]+)/.exec(path) ?? []
    return version === undefined || name === undefined ? [] : [{ version: Number(version), name }]
  })
  const newest = Math.max(...versioned.map(({ version }) => version))
  return [...new Set(versioned.filter(({ version }) => version === newest).map(({ name }) => name))]
}
