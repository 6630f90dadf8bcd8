/** Cache lines and the widest vector registers; offsets are multiples of it. */
const ALIGNMENT = 64

interface Gap {
  offset: number
  size: number
}

/**
 * Which bytes of a memory are taken. Takes the first gap that fits; neighbours that are given back become one.
 * It knows nothing of the memory itself.
 */
export class Arena {
  #size: number
  /** By offset; never adjacent, never empty. */
  readonly #gaps: Gap[]
  readonly #taken = new Map<number, number>()

  constructor(size: number) {
    this.#size = size
    this.#gaps = size > 0 ? [{ offset: 0, size }] : []
  }

  get size(): number {
    return this.#size
  }

  get isEmpty(): boolean {
    return this.#taken.size === 0
  }

  /** The offset of `size` bytes, or undefined when no gap has room for them. */
  allocate(size: number): number | undefined {
    const wanted = roundUp(Math.max(size, 1))
    const index = this.#gaps.findIndex((gap) => gap.size >= wanted)
    const gap = this.#gaps[index]
    if (gap === undefined) return undefined
    const { offset } = gap
    if (gap.size === wanted) this.#gaps.splice(index, 1)
    else {
      gap.offset += wanted
      gap.size -= wanted
    }
    this.#taken.set(offset, wanted)
    return offset
  }

  /** The smallest size that it would have to grow to, so that `size` bytes fit. */
  sizeFor(size: number): number {
    const last = this.#gaps.at(-1)
    const tail = last !== undefined && last.offset + last.size === this.#size ? last.size : 0
    return this.#size - tail + roundUp(Math.max(size, 1))
  }

  grow(size: number): void {
    if (size <= this.#size) return
    this.#insert({ offset: this.#size, size: size - this.#size })
    this.#size = size
  }

  /** Answers whether there was such a block. */
  free(offset: number): boolean {
    const size = this.#taken.get(offset)
    if (size === undefined) return false
    this.#taken.delete(offset)
    this.#insert({ offset, size })
    return true
  }

  #insert(gap: Gap): void {
    const found = this.#gaps.findIndex(({ offset }) => offset > gap.offset)
    const at = found < 0 ? this.#gaps.length : found
    const before = this.#gaps[at - 1]
    const after = this.#gaps[at]
    const joinsBefore = before !== undefined && before.offset + before.size === gap.offset
    const joinsAfter = after !== undefined && gap.offset + gap.size === after.offset
    if (joinsBefore) {
      before.size += gap.size + (joinsAfter ? after.size : 0)
      if (joinsAfter) this.#gaps.splice(at, 1)
    } else if (joinsAfter) {
      after.offset = gap.offset
      after.size += gap.size
    } else this.#gaps.splice(at, 0, gap)
  }
}

function roundUp(size: number): number {
  return Math.ceil(size / ALIGNMENT) * ALIGNMENT
}
