import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { ConchError } from '@conch/protocol'
import { Extraction } from './extraction.ts'
import type { ExtractionLimits } from './extraction.ts'
import { refuse, TarReader } from './tar.ts'

export interface Extracted {
  readonly entries: number
  readonly bytes: number
}

/** Unpacks into an empty directory; `progress` is called now and then. Blocks its thread while files are written. */
export async function extractArchive(
  archive: string,
  directory: string,
  options: { readonly limits: ExtractionLimits; readonly progress: (now: Extracted) => void },
): Promise<Extracted> {
  const inflate = await chooseInflate(archive)
  const extraction = new Extraction(directory, options.limits)
  const reader = new TarReader(extraction)
  const read = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) {
      reader.write(chunk)
      options.progress({ entries: extraction.entries, bytes: extraction.bytes })
    }
  }
  const source = createReadStream(archive, { highWaterMark: 256 * 1024 })
  try {
    await (inflate === undefined ? pipeline(source, read) : pipeline(source, inflate, read))
    reader.end()
    extraction.finish()
  } catch (error) {
    throw explain(error)
  } finally {
    extraction.close()
  }
  return { entries: extraction.entries, bytes: extraction.bytes }
}

/** By the first bytes, as the name may say anything. */
async function chooseInflate(archive: string): Promise<Transform | undefined> {
  const file = await open(archive, 'r')
  const head = Buffer.alloc(512)
  try {
    await file.read(head, 0, head.length, 0)
  } finally {
    await file.close()
  }
  if (head.readUInt16BE(0) === 0x1f8b) return createGunzip({ chunkSize: 256 * 1024 })
  if (head.readUInt32BE(0) === 0x28b52ffd) return createZstdDecompress({ chunkSize: 256 * 1024 })
  if (head.toString('latin1', 257, 262) === 'ustar') return undefined
  throw refuse('it is no tar.gz file; conda pack makes one with --format=tar.gz')
}

function explain(error: unknown): unknown {
  if (error instanceof ConchError || !(error instanceof Error)) return error
  const code = 'code' in error ? String(error.code) : ''
  if (code.startsWith('Z_') || code.startsWith('ERR_ZSTD') || code.startsWith('ZSTD_')) {
    return new ConchError('INVALID_ARG', `it is damaged (${error.message})`, { cause: error })
  }
  if (code === 'ENOSPC') return new ConchError('UNAVAILABLE', 'the disk is full', { cause: error })
  return new ConchError('INTERNAL', `it could not be unpacked (${code === '' ? error.message : code})`, {
    cause: error,
  })
}
