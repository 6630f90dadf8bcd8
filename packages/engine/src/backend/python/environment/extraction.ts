import {
  closeSync,
  constants,
  futimesSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname, isAbsolute, join, posix } from 'node:path'
import { isBelow } from './below.ts'
import { refuse } from './tar.ts'
import type { TarEntry, TarSink } from './tar.ts'

export interface ExtractionLimits {
  readonly entries: number
  /** Of everything together, unpacked. */
  readonly bytes: number
}

const MAX_DEPTH = 100
const MAX_NAME = 4_096
const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/**
 * Writes the entries of an archive below an empty directory, and nowhere else. The first bad entry ends it: whoever runs
 * it removes the directory then. Blocking calls: it belongs to a thread of its own.
 *
 * Environments are full of links, so links are allowed that end inside. Nothing is ever written through one.
 */
export class Extraction implements TarSink {
  entries = 0
  bytes = 0
  readonly #root: string
  readonly #limits: ExtractionLimits
  /** Directories, relative, that are known to be ones. */
  readonly #directories = new Set<string>([''])
  readonly #links: { name: string; path: string }[] = []
  #open: { descriptor: number; mtime: number } | undefined = undefined

  constructor(root: string, limits: ExtractionLimits) {
    this.#root = realpathSync.native(root)
    this.#limits = limits
  }

  open(entry: TarEntry): void {
    this.entries += 1
    this.bytes += entry.type === '0' ? entry.size : 0
    if (this.entries > this.#limits.entries) throw refuse(`it has more than ${this.#limits.entries} entries`)
    if (this.bytes > this.#limits.bytes) throw refuse(`unpacked it is larger than ${this.#limits.bytes} bytes`)
    const name = cleanName(entry.name)
    if (name !== '') this.#make(name, entry)
    else if (entry.type !== '5') throw refuse('an entry has no name')
  }

  data(bytes: Uint8Array): void {
    if (this.#open === undefined) throw refuse('an entry that is no file has content')
    for (let at = 0; at < bytes.length;) at += writeSync(this.#open.descriptor, bytes, at)
  }

  close(): void {
    if (this.#open === undefined) return
    const { descriptor, mtime } = this.#open
    this.#open = undefined
    try {
      // Compiled modules are good only for sources of the right age.
      futimesSync(descriptor, mtime, mtime)
    } finally {
      closeSync(descriptor)
    }
  }

  /** Where links end is known only when everything is there. */
  finish(): void {
    for (const { name, path } of this.#links) {
      const real = findRealPath(path)
      if (real !== undefined && !isBelow(this.#root, real)) throw refuse(`the link '${print(name)}' leaves it`)
    }
  }

  #make(name: string, entry: TarEntry): void {
    const path = join(this.#root, name)
    if (entry.type === '5') return this.#ensureDirectory(name, name)
    const parent = posix.dirname(name)
    this.#ensureDirectory(parent === '.' ? '' : parent, name)
    if (entry.type === '0') {
      const mode = (entry.mode & 0o111) === 0 ? 0o644 : 0o755
      const descriptor = replacing(path, name, () => openSync(path, CREATE, mode))
      this.#open = { descriptor, mtime: entry.mtime }
    } else if (entry.type === '2') this.#makeLink(name, path, entry.target)
    else if (entry.type === '1') this.#makeHardLink(name, path, entry.target)
    else throw refuse(`'${print(name)}' is no file, directory or link`)
  }

  #makeLink(name: string, path: string, target: string): void {
    // An environment of a plain Python has only a link to its interpreter.
    const isInterpreter = /^bin\/python[\d.]*$/.test(name)
    if (isAbsolute(target)) {
      if (!isInterpreter) throw refuse(`the link '${print(name)}' leaves it`)
    } else {
      const end = join(dirname(path), target)
      if (target === '' || target.includes('\0') || !isBelow(this.#root, end)) {
        throw refuse(`the link '${print(name)}' leaves it`)
      }
      if (!isInterpreter) this.#links.push({ name, path })
    }
    replacing(path, name, () => symlinkSync(target, path))
  }

  /** Only to a file that came before: everything else could be a file of somebody else. */
  #makeHardLink(name: string, path: string, target: string): void {
    const to = cleanName(target)
    const parent = posix.dirname(to)
    this.#ensureDirectory(parent === '.' ? '' : parent, name)
    const full = join(this.#root, to)
    if (to === '' || to === name || !isFile(full)) throw refuse(`'${print(name)}' is a hard link to no file of it`)
    replacing(path, name, () => linkSync(full, path))
  }

  /** Makes what is missing; refuses what is there and no directory, links above all. */
  #ensureDirectory(directory: string, name: string): void {
    if (this.#directories.has(directory)) return
    const parent = posix.dirname(directory)
    this.#ensureDirectory(parent === '.' ? '' : parent, name)
    const path = join(this.#root, directory)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined) mkdirSync(path, 0o755)
    else if (!found.isDirectory()) throw refuse(`'${print(name)}' lies behind a link or a file`)
    this.#directories.add(directory)
  }
}

/** The name with plain segments only; '' is the directory itself. */
function cleanName(name: string): string {
  if (name.length > MAX_NAME) throw refuse('a name is too long')
  if (isAbsolute(name) || /^[a-z]:/i.test(name)) throw refuse(`'${print(name)}' is an absolute path`)
  if (/[\\\0]/.test(name)) throw refuse(`'${print(name)}' has a backslash or NUL in its name`)
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.')
  if (segments.includes('..')) throw refuse(`'${print(name)}' climbs out of it`)
  if (segments.length > MAX_DEPTH) throw refuse(`'${print(name)}' is more than ${MAX_DEPTH} directories deep`)
  return segments.join('/')
}

/** As every reader of the format: what comes later wins. */
function replacing<T>(path: string, name: string, make: () => T): T {
  try {
    return make()
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error
    if (lstatSync(path).isDirectory()) throw refuse(`'${print(name)}' is there twice, once as a directory`)
    unlinkSync(path)
    return make()
  }
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true
}

function findRealPath(path: string): string | undefined {
  try {
    // The system's own: the other one takes `link/..` for nothing.
    return realpathSync.native(path)
  } catch (error) {
    // Ends nowhere, or in a circle.
    if (isCode(error, 'ENOENT') || isCode(error, 'ELOOP') || isCode(error, 'ENOTDIR')) return undefined
    throw error
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

function print(name: string): string {
  return Array.from(name.slice(0, 200), (char) => (char < ' ' || char === '\x7f' ? '?' : char)).join('')
}
