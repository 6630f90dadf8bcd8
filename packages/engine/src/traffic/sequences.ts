/** Sequences that are remembered; the one that was silent the longest is forgotten for one more. */
const MOST = 100_000
/** A sequence that is silent for longer has ended, milliseconds. */
const MAX_IDLE = 600_000

/** Where a sequence runs until it ends, whatever happens to the policy meanwhile. */
export interface Bound {
  readonly version: string
  /** Its requests are copied; false once one of them could not be: the copy knows nothing of what it missed. */
  mirrored: boolean
  lastAt: number
}

/** Sequences and their versions: bounded, forgotten when they are silent for long. Times are milliseconds on one clock. */
export class BoundSequences {
  /** The one that was silent the longest comes first. */
  readonly #bound = new Map<bigint | string, Bound>()

  get size(): number {
    return this.#bound.size
  }

  find(id: bigint | string, now: number): Bound | undefined {
    const bound = this.#bound.get(id)
    if (bound === undefined) return undefined
    this.#bound.delete(id)
    if (now - bound.lastAt > MAX_IDLE) return undefined
    bound.lastAt = now
    this.#bound.set(id, bound)
    return bound
  }

  bind(id: bigint | string, bound: Bound): void {
    this.#bound.delete(id)
    this.#bound.set(id, bound)
    for (const [oldest, { lastAt }] of this.#bound) {
      if (this.#bound.size <= MOST && bound.lastAt - lastAt <= MAX_IDLE) return
      this.#bound.delete(oldest)
    }
  }

  end(id: bigint | string): void {
    this.#bound.delete(id)
  }

  /** One of its requests was not copied: a copy of the others would know nothing of it. */
  forgo(id: bigint | string): void {
    const bound = this.#bound.get(id)
    if (bound !== undefined) bound.mirrored = false
  }
}
