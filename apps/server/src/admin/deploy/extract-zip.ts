import { createWriteStream } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Transform, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ConchError } from '@conch/protocol'
import yauzl, { type Entry, type ZipFile } from 'yauzl'
import { splitRelative } from '../contain.ts'
import { explainDisk } from '../write-file.ts'

export interface ZipLimits {
  readonly entries: number
  /** Bytes of everything unpacked. */
  readonly bytes: number
  /** Unpacked bytes may be this many times the archive's own, above a first 64 MiB. */
  readonly ratio: number
}
export const ZIP_LIMITS: ZipLimits = { entries: 5000, bytes: 64 * 1_073_741_824, ratio: 100 }
const FREE_BYTES = 64 * 1_048_576
const MAX_DEPTH = 16

/**
 * Unpacks an archive into an empty folder. One bad entry refuses it all; what was written until then is the caller's to
 * remove. Sizes are counted while unpacking: what the archive says of itself is not believed.
 */
export async function extractZip(path: string, directory: string, limits = ZIP_LIMITS): Promise<readonly string[]> {
  const { size } = await stat(path)
  const budget = { left: Math.min(limits.bytes, Math.max(FREE_BYTES, size * limits.ratio)) }
  const zip = await openZip(path)
  try {
    if (zip.entryCount > limits.entries) refuse(`it holds ${zip.entryCount} entries; ${limits.entries} are allowed`)
    const names: string[] = []
    let packed = 0
    for await (const entry of readEntries(zip)) {
      packed += entry.compressedSize
      // Entries that overlap each other blow up beyond what the file holds.
      if (packed > size) refuse('its entries overlap')
      checkEntry(entry, names)
      if (entry.fileName.endsWith('/')) continue
      names.push(entry.fileName)
      await writeEntry({ zip, entry, target: join(directory, ...entry.fileName.split('/')), budget })
    }
    return names
  } catch (error) {
    throw explain(error)
  } finally {
    zip.close()
  }
}

function refuse(why: string): never {
  throw new ConchError('INVALID_ARG', `the archive was refused: ${why}`)
}

/** Errors of the library speak of the archive, those of the disk of the disk. */
function explain(error: unknown): unknown {
  const told = explainDisk(error)
  if (told instanceof ConchError || !(error instanceof Error)) return told
  return new ConchError('INVALID_ARG', `the archive was refused: ${error.message}`, { cause: error })
}

function openZip(path: string): Promise<ZipFile> {
  const options = { lazyEntries: true, autoClose: false, strictFileNames: true, validateEntrySizes: true }
  return new Promise((resolve, reject) => {
    yauzl.open(path, options, (error: Error | null, zip?: ZipFile) => {
      if (zip === undefined) reject(explain(error ?? new Error('it cannot be read')) as Error)
      else resolve(zip)
    })
  })
}

async function* readEntries(zip: ZipFile): AsyncGenerator<Entry> {
  const next = () =>
    new Promise<Entry | undefined>((resolve, reject) => {
      const settle = (act: () => void) => {
        zip.removeAllListeners()
        zip.on('error', () => undefined)
        act()
      }
      zip.once('entry', (entry: Entry) => settle(() => resolve(entry)))
      zip.once('end', () => settle(() => resolve(undefined)))
      zip.once('error', (error: Error) => settle(() => reject(error)))
      zip.readEntry()
    })
  for (let entry = await next(); entry !== undefined; entry = await next()) yield entry
}

const TYPE_MASK = 0o170000
const REGULAR = 0o100000
const FOLDER = 0o040000

function checkEntry(entry: Entry, names: readonly string[]): void {
  const { fileName } = entry
  const shown = fileName.slice(0, 100)
  const parts = splitRelative(fileName.replace(/\/$/, ''))
  if (parts === undefined) refuse(`'${shown}' would leave its folder`)
  if (parts.length > MAX_DEPTH) refuse(`'${shown}' lies deeper than ${MAX_DEPTH} folders`)
  if (names.includes(fileName)) refuse(`'${shown}' is in it twice`)
  if (entry.isEncrypted()) refuse(`'${shown}' is encrypted`)
  const type = (entry.externalFileAttributes >>> 16) & TYPE_MASK
  if (type !== 0 && type !== REGULAR && type !== FOLDER) refuse(`'${shown}' is a link or a device, not a file`)
}

interface Writing {
  readonly zip: ZipFile
  readonly entry: Entry
  readonly target: string
  readonly budget: { left: number }
}

async function writeEntry({ zip, entry, target, budget }: Writing): Promise<void> {
  const source = await new Promise<Readable>((resolve, reject) => {
    zip.openReadStream(entry, (error: Error | null, stream?: Readable) => {
      if (stream === undefined) reject(error ?? new Error('an entry cannot be read'))
      else resolve(stream)
    })
  })
  // It goes on complaining after the pipeline has let go of it, and nobody listening would end the process.
  source.on('error', () => undefined)
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      budget.left -= chunk.byteLength
      if (budget.left < 0)
        done(new ConchError('INVALID_ARG', 'the archive was refused: it unpacks to far more than it should'))
      else done(null, chunk)
    },
  })
  await mkdir(dirname(target), { recursive: true, mode: 0o755 })
  await pipeline(source, count, createWriteStream(target, { flags: 'wx', mode: 0o644 }))
}
