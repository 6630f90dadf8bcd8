import { closeSync, fstatSync, ftruncateSync } from 'node:fs'
import { ConchError } from '@conch/protocol'
import { openCLibrary } from './c-library.ts'
import type { Address } from './c-library.ts'

const [MFD_CLOEXEC, MFD_ALLOW_SEALING] = [1, 2]
const [F_ADD_SEALS, F_SEAL_SHRINK] = [1033, 2]
const [PROT_READ_WRITE, MAP_SHARED, MAP_FAILED] = [3, 1, 0xffff_ffff_ffff_ffffn]
const [KEEP_SIZE, PUNCH_HOLE] = [1, 2]

/** Copies above this many bytes are made on another thread: it would hold up everybody for a millisecond. */
const COPY_ELSEWHERE = 4 * 1024 * 1024

/**
 * Memory that is shared with a child through a descriptor. It has no name, so nothing is left of it when both have ended,
 * however that came. It cannot be made smaller by anyone: reading what was there once never faults.
 *
 * No view on it leaves this class: bytes are copied in and out, so that it can be unmapped at any time.
 */
export class MemoryFile {
  readonly descriptor: number
  #size = 0
  #address: Address | undefined = undefined
  /** Memory that other threads copy from or to: it and the mapping stay until they are done. */
  readonly #copying = new Set<Uint8Array>()
  #retired: { readonly address: Address; readonly size: number }[] = []
  #closed = false

  constructor(name: string, size: number) {
    const c = openCLibrary()
    this.descriptor = c.memfdCreate(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)
    if (this.descriptor < 0) throw refuse('cannot create a memory file', c.complaint())
    try {
      if (c.fcntl(this.descriptor, F_ADD_SEALS, F_SEAL_SHRINK) !== 0) {
        throw refuse('cannot seal a memory file', c.complaint())
      }
      this.grow(size)
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** Bytes that can be used here. */
  get size(): number {
    return this.#size
  }

  /** For its owner. */
  grow(size: number): void {
    if (size <= this.#size) return
    try {
      ftruncateSync(this.descriptor, size)
    } catch (cause) {
      const text = `Failed to increase the shared memory pool size to ${this.#size} bytes`
      throw new ConchError('INTERNAL', `${text}. Error: ${(cause as Error).message}`, { cause })
    }
    this.#map(size)
  }

  /** For its reader: the owner says that it has grown. */
  follow(size: number): void {
    if (size <= this.#size) return
    if (fstatSync(this.descriptor).size < size)
      throw new Error(`a memory file is smaller than the announced ${size} bytes`)
    this.#map(size)
  }

  #map(size: number): void {
    const c = openCLibrary()
    const address = c.mmap(null, size, PROT_READ_WRITE, MAP_SHARED, this.descriptor, 0)
    if (address === MAP_FAILED || address === null) throw refuse(`cannot map ${size} bytes`, c.complaint())
    this.#unmap()
    this.#address = address
    this.#size = size
  }

  #unmap(): void {
    if (this.#address === undefined) return
    this.#retired.push({ address: this.#address, size: this.#size })
    this.#address = undefined
    if (this.#copying.size === 0) this.#sweep()
  }

  #sweep(): void {
    for (const { address, size } of this.#retired.splice(0)) openCLibrary().munmap(address, size)
  }

  #locate(offset: number, length: number): Address {
    const inside = offset >= 0 && length >= 0 && Number.isSafeInteger(offset) && offset + length <= this.#size
    if (this.#address === undefined || !inside) throw new Error(`bytes outside of a memory file: ${offset}+${length}`)
    return this.#address + BigInt(offset)
  }

  /** A large copy is made on another thread: then `wait` gets a promise, and `bytes` must not change until it is kept. */
  write(offset: number, bytes: Uint8Array, wait: Promise<void>[]): void {
    const at = this.#locate(offset, bytes.length)
    if (bytes.length === 0) return
    const { copyIn } = openCLibrary()
    if (bytes.length < COPY_ELSEWHERE) copyIn(at, bytes, bytes.length)
    else wait.push(this.#elsewhere(bytes, (done) => copyIn.async(at, bytes, bytes.length, done)))
  }

  /** A large copy is made on another thread: then `wait` gets a promise, and the result is not filled until it is kept. */
  read(offset: number, length: number, wait: Promise<void>[]): Uint8Array {
    const at = this.#locate(offset, length)
    const target = allocate(length)
    if (length === 0) return target
    const { copyOut } = openCLibrary()
    if (length < COPY_ELSEWHERE) copyOut(target, at, length)
    else wait.push(this.#elsewhere(target, (done) => copyOut.async(target, at, length, done)))
    return target
  }

  /** Reads into memory of the caller's, at once. */
  peek(offset: number, target: Uint8Array): void {
    openCLibrary().copyOut(target, this.#locate(offset, target.length), target.length)
  }

  async #elsewhere(bytes: Uint8Array, copy: (done: (error: Error | null) => void) => void): Promise<void> {
    // A view of its own: the same bytes may be on their way twice.
    const held = bytes.subarray()
    this.#copying.add(held)
    try {
      await new Promise<void>((resolve, reject) => {
        copy((error) => (error === null ? resolve() : reject(error)))
      })
    } finally {
      this.#copying.delete(held)
      if (this.#copying.size === 0) this.#sweep()
    }
  }

  /** Gives pages back to the system; they read as zeros afterwards. */
  discard(offset: number, length: number): void {
    if (length > 0) openCLibrary().fallocate(this.descriptor, KEEP_SIZE | PUNCH_HOLE, offset, length)
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#unmap()
    this.#size = 0
    closeSync(this.descriptor)
  }
}

function allocate(length: number): Uint8Array {
  try {
    return Buffer.allocUnsafeSlow(length)
  } catch (cause) {
    throw new ConchError('INTERNAL', `cannot allocate ${length} bytes for an output`, { cause })
  }
}

function refuse(what: string, why: string): ConchError {
  return new ConchError('INTERNAL', `${what}: ${why}`)
}
