import { setTimeout as after } from 'node:timers'
import type { Tensor } from '@conch/protocol'
import { Arena } from './arena.ts'
import { alignPart } from './frame-writer.ts'
import { MemoryFile } from './memory-file.ts'

/** Bytes of a tensor, and of all tensors of a frame, that travel in the frame itself. */
const INLINE_TENSOR = 64 * 1024
const INLINE_FRAME = 128 * 1024
/** Memory that is kept when nothing is in it, and how long more is kept, milliseconds. */
const KEPT = 4 * 1024 * 1024
const KEPT_FOR = 2_000

/** The tensors of one frame: those that travel in it, and what must be waited for before it is sent. */
export class Cargo {
  readonly parts: Uint8Array[] = []
  readonly wait: Promise<void>[] = []
  readonly offsets: number[] = []
  end = 0
}

/** The memory through which the server hands large tensors to one child. */
export class RequestArena {
  readonly #file: MemoryFile
  readonly #arena: Arena
  readonly #growth: number
  #announced: number
  #usedAt = 0
  #timer: NodeJS.Timeout | undefined = undefined

  /** Sizes in bytes; it grows by multiples of `growth`. */
  constructor(size: number, growth: number) {
    this.#file = new MemoryFile('conch-requests', size)
    this.#arena = new Arena(size)
    this.#growth = growth
    this.#announced = size
  }

  get descriptor(): number {
    return this.#file.descriptor
  }

  /** Its new size once after it has grown: what the next frame has to tell. */
  takeGrowth(): number | undefined {
    if (this.#file.size === this.#announced) return undefined
    this.#announced = this.#file.size
    return this.#announced
  }

  /** Puts a tensor on its way; returns its entry, as JSON. `name` is JSON already. */
  place(tensor: Tensor, name: string, cargo: Cargo): string {
    const { data, datatype, shape } = tensor
    const start = alignPart(cargo.end)
    if (data.length <= INLINE_TENSOR && start + data.length <= INLINE_FRAME) {
      cargo.parts.push(data)
      cargo.end = start + data.length
      return `[${name},"${datatype}",[${shape.join(',')}],0,${start},${data.length}]`
    }
    const offset = this.#allocate(data.length)
    cargo.offsets.push(offset)
    this.#file.write(offset, data, cargo.wait)
    return `[${name},"${datatype}",[${shape.join(',')}],1,${offset},${data.length}]`
  }

  #allocate(size: number): number {
    const found = this.#arena.allocate(size)
    if (found !== undefined) return found
    const needed = Math.max(this.#arena.sizeFor(size), 2 * this.#arena.size)
    const grown = Math.ceil(needed / this.#growth) * this.#growth
    this.#file.grow(grown)
    this.#arena.grow(grown)
    return this.#arena.allocate(size) ?? 0
  }

  /** The child has done with them, or never got them. */
  free(offsets: readonly number[]): void {
    for (const offset of offsets) this.#arena.free(offset)
    this.#usedAt = performance.now()
    if (this.#arena.isEmpty && this.#arena.size > KEPT) this.#timer ??= this.#watch()
  }

  #watch(): NodeJS.Timeout {
    return after(() => this.#giveBack(), KEPT_FOR).unref()
  }

  #giveBack(): void {
    this.#timer = undefined
    if (!this.#arena.isEmpty) return
    if (performance.now() - this.#usedAt < KEPT_FOR) this.#timer = this.#watch()
    else this.#file.discard(KEPT, this.#file.size - KEPT)
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#file.close()
  }
}
