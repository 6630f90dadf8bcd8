import { BYTE_SIZE, countElements, isDatatype } from '@conch/protocol'
import type { Tensor } from '@conch/protocol'
import type { TensorEntry } from './frames.ts'
import { MemoryFile } from './memory-file.ts'

/** The child's counter of its own life, at the beginning of its memory. */
const HEARTBEAT_BYTES = 8

/** Tensors that a child made: copied out, once, and what must be waited for before they are whole. */
export class Harvest {
  readonly wait: Promise<void>[] = []
  /** Blocks that the child may use again afterwards. */
  readonly offsets: number[] = []
  readonly #arena: ResponseArena
  readonly #frame: Buffer
  #payload: Buffer | undefined = undefined

  constructor(arena: ResponseArena, frame: Buffer) {
    this.#arena = arena
    this.#frame = frame
  }

  /** Notes the blocks that are free again once the harvest is in, whether somebody wants these tensors or not. */
  claim(entries: readonly TensorEntry[] | undefined): readonly TensorEntry[] {
    if (entries === undefined) return []
    for (const [, , , place, offset] of entries) if (place === 1) this.offsets.push(offset)
    return entries
  }

  /** Throws for an entry that names bytes which are not there, or not as many as its shape says. */
  take(entry: TensorEntry): Tensor {
    const [name, datatype, shape, place, offset, bytes] = entry
    checkEntry(entry)
    if (place === 1) return { name, datatype, shape, data: this.#arena.read(offset, bytes, this.wait) }
    // The frame's memory is used again when this call is over; tensors become views on one copy of it.
    const payload = (this.#payload ??= Buffer.from(this.#frame))
    if (offset < 0 || offset + bytes > payload.length) throw new Error(`a tensor outside of its frame: '${name}'`)
    return { name, datatype, shape, data: new Uint8Array(payload.buffer, payload.byteOffset + offset, bytes) }
  }
}

function checkEntry([name, datatype, shape, , offset, bytes]: TensorEntry): void {
  if (!isDatatype(datatype)) throw new Error(`a tensor of no known type: '${name}'`)
  const expected = countElements(shape) * BYTE_SIZE[datatype]
  const fits = datatype === 'BYTES' || expected === bytes
  if (!fits || !Number.isSafeInteger(offset) || !Number.isSafeInteger(bytes)) {
    throw new Error(`a tensor whose bytes do not fit its shape: '${name}'`)
  }
}

/** The memory through which one child hands large tensors to the server. */
export class ResponseArena {
  readonly #file: MemoryFile
  readonly #heartbeat = Buffer.alloc(HEARTBEAT_BYTES)

  constructor(size: number) {
    this.#file = new MemoryFile('conch-responses', size)
  }

  get descriptor(): number {
    return this.#file.descriptor
  }

  /** The child has made it larger. */
  follow(size: number): void {
    this.#file.follow(size)
  }

  read(offset: number, bytes: number, wait: Promise<void>[]): Uint8Array {
    return this.#file.read(offset, bytes, wait)
  }

  /** Changes as long as the child's threads run. */
  heartbeat(): bigint {
    this.#file.peek(0, this.#heartbeat)
    return this.#heartbeat.readBigUInt64LE()
  }

  close(): void {
    this.#file.close()
  }
}
