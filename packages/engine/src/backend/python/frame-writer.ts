/** Two lengths before every header. */
export const PREFIX = 8
/** Of a payload's start in its frame, and of each tensor in it. */
const ALIGNMENT = 8
const SPACE = 0x20

/** Where the next part of a payload would begin, after one that ends at `end`. */
export function alignPart(end: number): number {
  return Math.ceil(end / ALIGNMENT) * ALIGNMENT
}

/**
 * Lays frames out one after another. What `take` returns is valid until the next `add`: it is memory that is used again.
 */
export class FrameWriter {
  #memory: Buffer = Buffer.allocUnsafeSlow(64 * 1024)
  #length = 0

  /** Parts lie at the multiples of 8 that `alignPart` foretells. */
  add(header: string, parts: readonly Uint8Array[]): void {
    let payload = 0
    for (const part of parts) payload = alignPart(payload) + part.length
    // A UTF-16 unit becomes three bytes at most.
    this.#reserve(PREFIX + 3 * header.length + ALIGNMENT + payload)
    const memory = this.#memory
    const start = this.#length
    const written = memory.write(header, start + PREFIX, 'utf8')
    const size = alignPart(PREFIX + written) - PREFIX
    memory.fill(SPACE, start + PREFIX + written, start + PREFIX + size)
    memory.writeUInt32LE(4 + size + payload, start)
    memory.writeUInt32LE(size, start + 4)
    let at = 0
    for (const part of parts) {
      at = alignPart(at)
      memory.set(part, start + PREFIX + size + at)
      at += part.length
    }
    this.#length = start + PREFIX + size + payload
  }

  take(): Buffer {
    const taken = this.#memory.subarray(0, this.#length)
    this.#length = 0
    return taken
  }

  get isEmpty(): boolean {
    return this.#length === 0
  }

  #reserve(size: number): void {
    const needed = this.#length + size
    if (needed <= this.#memory.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#memory.length))
    this.#memory.copy(larger, 0, 0, this.#length)
    this.#memory = larger
  }
}
