import { ConchError } from '@conch/protocol'
import type { Tensor } from '@conch/protocol'
import type { CacheNumbers, CacheStore } from './contract.ts'
import { measureEntry } from './entry.ts'

interface Kept {
  readonly outputs: readonly Tensor[]
  readonly bytes: number
}

/** What keeping an entry and one of its outputs costs beside their bytes, measured on Node 24: key, map, objects, views. */
const ENTRY_OVERHEAD = 320
const OUTPUT_OVERHEAD = 280
const LEAST_SIZE = 1_024

/** In this process's memory: the entry that was used last lives longest, all of them together within a byte budget. */
export class LocalCache implements CacheStore {
  readonly lasting = false
  readonly #size: number
  /** Least recently used first. */
  readonly #entries = new Map<string, Kept>()
  #bytes = 0
  #lookups = 0
  #hits = 0
  #evictions = 0
  #lookupMs = 0
  #insertMs = 0

  constructor(size: number) {
    this.#size = size
  }

  lookup(key: string): readonly Tensor[] | undefined {
    const start = performance.now()
    this.#lookups += 1
    const kept = this.#entries.get(key)
    if (kept !== undefined) {
      this.#hits += 1
      this.#entries.delete(key)
      this.#entries.set(key, kept)
    }
    this.#lookupMs += performance.now() - start
    return kept?.outputs
  }

  insert(key: string, outputs: readonly Tensor[]): 'kept' | 'known' {
    const start = performance.now()
    const known = this.#entries.get(key)
    if (known !== undefined) {
      this.#entries.delete(key)
      this.#entries.set(key, known)
      return 'known'
    }
    const size = measureEntry(outputs)
    const bytes = size + ENTRY_OVERHEAD + OUTPUT_OVERHEAD * outputs.length
    if (bytes > this.#size) {
      const text = `Requested byte_size: ${size} is greater than total cache size: ${this.#size}`
      throw new ConchError('INTERNAL', text)
    }
    this.#makeRoom(bytes)
    this.#entries.set(key, { outputs: copyOutputs(outputs), bytes })
    this.#bytes += bytes
    this.#insertMs += performance.now() - start
    return 'kept'
  }

  forget(scope: string): void {
    const prefix = `${scope}:`
    for (const [key, { bytes }] of this.#entries) {
      if (!key.startsWith(prefix)) continue
      this.#entries.delete(key)
      this.#bytes -= bytes
    }
  }

  close(): Promise<void> {
    this.#entries.clear()
    this.#bytes = 0
    return Promise.resolve()
  }

  get numbers(): CacheNumbers {
    return {
      utilisation: this.#bytes / this.#size,
      entries: this.#entries.size,
      lookups: this.#lookups,
      hits: this.#hits,
      misses: this.#lookups - this.#hits,
      evictions: this.#evictions,
      lookupUs: Math.floor(this.#lookupMs * 1e3),
      insertUs: Math.floor(this.#insertMs * 1e3),
    }
  }

  #makeRoom(bytes: number): void {
    for (const [key, oldest] of this.#entries) {
      if (this.#bytes + bytes <= this.#size) return
      this.#entries.delete(key)
      this.#bytes -= oldest.bytes
      this.#evictions += 1
    }
  }
}

/** One block of memory for all of them: an entry keeps no larger buffer alive than its own. */
function copyOutputs(outputs: readonly Tensor[]): readonly Tensor[] {
  const block = new Uint8Array(outputs.reduce((sum, { data }) => sum + data.byteLength, 0))
  let at = 0
  return outputs.map(({ name, datatype, shape, data }) => {
    block.set(data, at)
    at += data.byteLength
    return { name, datatype, shape: [...shape], data: block.subarray(at - data.byteLength, at) }
  })
}

/** Throws the original's texts (cache §6). */
export function createLocalCache(settings: Readonly<Record<string, string>>): LocalCache {
  const text = settings['size']
  const start = 'Failed to initialize LocalCache:'
  if (text === undefined) {
    throw new ConchError('INVALID_ARG', `${start} config didn't contain a valid 'size' field.`)
  }
  if (!/^\s*\+?\d+/.test(text)) throw new ConchError('INTERNAL', `${start} stoull`)
  const size = Number.parseInt(text, 10)
  if (size < LEAST_SIZE) {
    throw new ConchError('INTERNAL', `${start} a size of ${size} bytes is too small, ${LEAST_SIZE} are the least`)
  }
  return new LocalCache(size)
}
