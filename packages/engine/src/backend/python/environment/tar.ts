import { ConchError } from '@conch/protocol'

const BLOCK = 512
/** Extended headers and long names; real ones have some hundred bytes. */
const MAX_EXTENSION = 1024 * 1024

export interface TarEntry {
  readonly name: string
  /** The letter of the format: 0 file, 1 hard link, 2 symbolic link, 5 directory. */
  readonly type: string
  readonly mode: number
  readonly size: number
  /** Seconds. */
  readonly mtime: number
  readonly target: string
}

export interface TarSink {
  open(entry: TarEntry): void
  /** Part of the last opened entry's content. */
  data(bytes: Uint8Array): void
  close(): void
}

/**
 * Reads a tar stream (ustar, pax, GNU long names) piece by piece. Headers must have a right checksum; sparse files are
 * refused. It knows nothing of paths: what a name may be is the sink's matter.
 */
export class TarReader {
  readonly #sink: TarSink
  #block: Buffer = Buffer.alloc(0)
  /** Content left of the entry, and the zeros behind it. */
  #left = 0
  #padding = 0
  #extension: { type: string; parts: Buffer[] } | undefined = undefined
  #overrides: Readonly<Record<string, string>> = {}
  #ended = false

  constructor(sink: TarSink) {
    this.#sink = sink
  }

  write(chunk: Buffer): void {
    let rest = chunk
    while (rest.length > 0 && !this.#ended) {
      if (this.#left > 0) rest = this.#takeContent(rest)
      else if (this.#padding > 0) rest = this.#skipPadding(rest)
      else rest = this.#takeHeader(rest)
    }
  }

  end(): void {
    if (this.#left > 0 || this.#padding > 0 || this.#block.length > 0) throw refuse('it ends in the middle of a file')
  }

  #takeContent(bytes: Buffer): Buffer {
    const part = bytes.subarray(0, this.#left)
    this.#left -= part.length
    if (this.#extension === undefined) this.#sink.data(part)
    // A copy: the stream uses its buffers again.
    else this.#extension.parts.push(Buffer.from(part))
    if (this.#left === 0) this.#closeContent()
    return bytes.subarray(part.length)
  }

  #skipPadding(bytes: Buffer): Buffer {
    const skipped = Math.min(this.#padding, bytes.length)
    this.#padding -= skipped
    return bytes.subarray(skipped)
  }

  #takeHeader(bytes: Buffer): Buffer {
    const missing = BLOCK - this.#block.length
    this.#block = Buffer.concat([this.#block, bytes.subarray(0, missing)])
    if (this.#block.length === BLOCK) {
      const block = this.#block
      this.#block = Buffer.alloc(0)
      if (block.every((byte) => byte === 0)) this.#ended = true
      else this.#begin(block)
    }
    return bytes.subarray(missing)
  }

  #begin(block: Buffer): void {
    const entry = applyOverrides(readHeader(block), this.#overrides)
    const isExtension = ['x', 'g', 'L', 'K'].includes(entry.type)
    if (isExtension && entry.size > MAX_EXTENSION) throw refuse('an extended header is too large')
    this.#left = hasContent(entry.type) ? entry.size : 0
    this.#padding = (BLOCK - (this.#left % BLOCK)) % BLOCK
    if (isExtension) this.#extension = { type: entry.type, parts: [] }
    else {
      this.#overrides = {}
      this.#sink.open(entry)
    }
    if (this.#left === 0) this.#closeContent()
  }

  #closeContent(): void {
    const extension = this.#extension
    this.#extension = undefined
    if (extension === undefined) this.#sink.close()
    else if (extension.type !== 'g') {
      this.#overrides = { ...this.#overrides, ...readExtension(extension.type, Buffer.concat(extension.parts)) }
    }
  }
}

function hasContent(type: string): boolean {
  return !['1', '2', '3', '4', '5', '6'].includes(type)
}

function readHeader(block: Buffer): TarEntry {
  const sum = readNumber(block.subarray(148, 156))
  const actual = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0)
  if (sum !== actual) throw refuse('a header is damaged, or it is no tar file')
  const prefix = block.toString('latin1', 257, 262) === 'ustar' ? readText(block.subarray(345, 500)) : ''
  const name = readText(block.subarray(0, 100))
  const type = String.fromCharCode(block[156] ?? 0)
  return {
    // GNU writes times, not names, into the place of the prefix.
    name: prefix === '' || block.toString('latin1', 257, 264) === 'ustar  ' ? name : `${prefix}/${name}`,
    // Old writers mark a directory by its name only.
    type: type === '\0' || type === '7' ? (name.endsWith('/') ? '5' : '0') : type,
    mode: readNumber(block.subarray(100, 108)),
    size: readNumber(block.subarray(124, 136)),
    mtime: readNumber(block.subarray(136, 148)),
    target: readText(block.subarray(157, 257)),
  }
}

function readText(field: Buffer): string {
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end < 0 ? field.length : end)
}

/** Octal digits, or big-endian binary when the first bit is set. */
function readNumber(field: Buffer): number {
  const first = field[0] ?? 0
  if (first < 0x80) {
    const text = readText(field).trim()
    if (!/^[0-7]*$/.test(text)) throw refuse('a header is damaged, or it is no tar file')
    return text === '' ? 0 : Number.parseInt(text, 8)
  }
  const value = field.subarray(1).reduce((total, byte) => total * 256 + byte, 0)
  if (first !== 0x80 || value > Number.MAX_SAFE_INTEGER) throw refuse('a number is out of range')
  return value
}

function applyOverrides(entry: TarEntry, overrides: Readonly<Record<string, string>>): TarEntry {
  const { path, linkpath, size, mtime } = overrides
  if (Object.keys(overrides).some((key) => key.startsWith('GNU.sparse.')) || entry.type === 'S') {
    throw refuse('it has sparse files; pack it without them')
  }
  const made = { ...entry }
  if (path !== undefined) made.name = path
  if (linkpath !== undefined) made.target = linkpath
  if (mtime !== undefined && Number.isFinite(Number(mtime))) made.mtime = Number(mtime)
  if (size === undefined) return made
  made.size = Number(size)
  if (!Number.isSafeInteger(made.size) || made.size < 0) throw refuse('a number is out of range')
  return made
}

/** `length key=value\n` records (pax), or one long name (GNU). */
function readExtension(type: string, content: Buffer): Record<string, string> {
  if (type === 'L') return { path: readText(content) }
  if (type === 'K') return { linkpath: readText(content) }
  const found: Record<string, string> = {}
  let at = 0
  while (at < content.length) {
    const space = content.indexOf(0x20, at)
    const length = Number(content.toString('latin1', at, Math.max(space, at)))
    const end = at + length
    if (space < at || !Number.isSafeInteger(length) || end <= space || end > content.length)
      throw refuse('a pax header is damaged')
    const record = content.toString('utf8', space + 1, end - 1)
    const equals = record.indexOf('=')
    Object.defineProperty(found, record.slice(0, equals), { value: record.slice(equals + 1), enumerable: true })
    at = end
  }
  return found
}

/** Completes `the archive 'x' was refused: …`. */
export function refuse(why: string): ConchError {
  return new ConchError('INVALID_ARG', why)
}
