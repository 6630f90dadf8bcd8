import type { Dirent } from 'node:fs'
import { lstat, readdir, realpath, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { ConchError } from '@conch/protocol'
import { isInside, isSegment, printPath, resolveInside } from '../contain.ts'
import type { FetchedModel, Source } from '../contract.ts'
import { explainIo } from '../explain-io.ts'
import { isTrafficFile } from '../traffic-file.ts'
import { isVersion } from '../versions.ts'

/** Bounds of one model's tree: a repository that points at a whole disk must not hang the server. */
const MAX_ENTRIES = 100_000
const MAX_DEPTH = 32

/** Where the console builds what it will publish: never a model. */
const WORK_FOLDER = '.conch'

/** Opens a directory as a repository; throws the original's texts when it is none. */
export async function openLocalSource(root: string, configName: string): Promise<Source> {
  let real: string
  try {
    real = await realpath(root)
  } catch (cause) {
    throw new ConchError('INTERNAL', `failed to stat file ${root}`, { cause })
  }
  if (!(await stat(real)).isDirectory()) {
    throw new ConchError('INTERNAL', `repository path is not a valid directory: ${root}`)
  }
  return new LocalSource(root, real, configName)
}

class LocalSource implements Source {
  readonly root: string
  readonly name: string
  readonly #real: string
  readonly #configName: string

  constructor(root: string, real: string, configName: string) {
    this.root = root
    this.name = basename(real)
    this.#real = real
    this.#configName = configName
  }

  async list(): Promise<readonly string[]> {
    const names: string[] = []
    const entries = await readdir(this.#real, { withFileTypes: true }).catch((cause: unknown) => {
      throw explainIo(cause, 'open directory', this.name)
    })
    for (const entry of entries) {
      if (entry.name !== WORK_FOLDER && (await isModel(this.#real, entry))) names.push(entry.name)
    }
    return names.toSorted()
  }

  async has(model: string): Promise<boolean> {
    if (model === WORK_FOLDER || !isSegment(model)) return false
    const path = join(this.#real, model)
    return (await isDirectory(path)) || leadsNowhere(path)
  }

  async fetch(model: string): Promise<FetchedModel | undefined> {
    if (!(await this.has(model))) return undefined
    if (await leadsNowhere(join(this.#real, model))) {
      const text = `'${printPath(model)}' is a symbolic link that leads nowhere; mend its target or remove it`
      throw new ConchError('INVALID_ARG', text)
    }
    const directory = await resolveInside(this.#real, this.#real, model)
    const walk = new Walk(this.#real, directory)
    const versions: Record<string, bigint> = {}
    const folders: string[] = []
    let other = 0n
    for (const entry of await walk.read('')) {
      const { name } = entry
      if (name === 'configs' || name === 'config.pbtxt' || isTrafficFile(name)) continue
      const newest = await walk.newest(name, 1)
      const folder = await mayBeVersion(directory, entry)
      if (folder) folders.push(name)
      if (folder && isVersion(name)) versions[name] = newest
      else if (newest > other) other = newest
    }
    const configFile = await this.#chooseConfig(directory)
    const config = configFile === undefined ? 0n : await walk.newest(configFile, 1)
    const own = (await lstat(directory, { bigint: true })).mtimeNs
    return { directory, root: this.#real, stamps: { config, versions, other, directory: own }, folders, configFile }
  }

  /** `configs/<name>.pbtxt` where there is one, else `config.pbtxt`, else none (repository.md §1.1). */
  async #chooseConfig(directory: string): Promise<string | undefined> {
    const names = this.#configName === '' ? ['config.pbtxt'] : [`configs/${this.#configName}.pbtxt`, 'config.pbtxt']
    for (const name of names) {
      if (await exists(join(directory, name))) return name
    }
    return undefined
  }
}

async function isModel(parent: string, entry: Dirent): Promise<boolean> {
  return (await isFolder(parent, entry)) || (entry.isSymbolicLink() && leadsNowhere(join(parent, entry.name)))
}

/** A link without a target is a model that is broken, and told to be; hidden ones are locks of editors. */
async function leadsNowhere(path: string): Promise<boolean> {
  if (basename(path).startsWith('.')) return false
  const isLink = await lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  )
  return (
    isLink &&
    !(await stat(path).then(
      () => true,
      () => false,
    ))
  )
}

/** A version that is a link to nothing fails when it is loaded, and is not just absent. */
async function mayBeVersion(parent: string, entry: Dirent): Promise<boolean> {
  return (await isFolder(parent, entry)) || (isVersion(entry.name) && leadsNowhere(join(parent, entry.name)))
}

async function isFolder(parent: string, entry: Dirent): Promise<boolean> {
  return entry.isDirectory() || (entry.isSymbolicLink() && (await isDirectory(join(parent, entry.name))))
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

/** One bounded walk through a model's directory: newest modification, and refusal of what leaves it. */
class Walk {
  readonly #root: string
  readonly #directory: string
  #entries = 0

  constructor(root: string, directory: string) {
    this.#root = root
    this.#directory = directory
  }

  async read(path: string) {
    try {
      return await readdir(join(this.#directory, path), { withFileTypes: true })
    } catch (cause) {
      throw explainIo(cause, 'open directory', path)
    }
  }

  /** Newest modification of a file, or of a directory and all below it. */
  async newest(path: string, depth: number): Promise<bigint> {
    this.#entries += 1
    if (this.#entries > MAX_ENTRIES || depth > MAX_DEPTH) {
      throw new ConchError('INVALID_ARG', `more than ${MAX_ENTRIES} files or ${MAX_DEPTH} levels of directories`)
    }
    const full = join(this.#directory, path)
    let found = await lstat(full, { bigint: true })
    let newest = found.mtimeNs
    if (found.isSymbolicLink()) {
      const target = await this.#follow(path)
      if (target === undefined) return newest
      found = target
      if (found.mtimeNs > newest) newest = found.mtimeNs
    }
    if (found.isFile()) return newest
    if (!found.isDirectory()) {
      throw new ConchError('INVALID_ARG', `'${printPath(path)}' is neither a file nor a directory`)
    }
    for (const entry of await this.read(path)) {
      const inner = await this.newest(join(path, entry.name), depth + 1)
      if (inner > newest) newest = inner
    }
    return newest
  }

  /** A link that leads nowhere is an editor's lock as often as a mistake: whoever needs its target complains. */
  async #follow(path: string) {
    let real: string
    try {
      real = await resolveInside(this.#root, this.#directory, path)
    } catch (cause) {
      if (cause instanceof ConchError) throw cause
      return undefined
    }
    if (isInside(real, join(this.#directory, path))) {
      throw new ConchError('INVALID_ARG', `'${printPath(path)}' is a symbolic link to a directory above it`)
    }
    return await lstat(real, { bigint: true })
  }
}
