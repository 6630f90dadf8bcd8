import { ConchError } from '@conch/protocol'

/**
 * The memory that the request bodies of all connections may take together until they are answered. It is counted as it
 * arrives, not as it is announced, and nobody waits for it: bodies that are half here would wait for each other.
 */
export class BodyBudget {
  /** Bytes. */
  readonly total: number
  #used = 0

  constructor(total: number) {
    this.total = total
  }

  get used(): number {
    return this.#used
  }

  /** False, and nothing taken, when there is no room. */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.total) return false
    this.#used += bytes
    return true
  }

  giveBack(bytes: number): void {
    this.#used -= bytes
  }

  refuse(): ConchError {
    const rule = `request bodies in flight may take ${this.total} bytes together and there is no room for this one now`
    return new ConchError('UNAVAILABLE', `${rule}. Try again, or raise --http-body-memory`)
  }
}
