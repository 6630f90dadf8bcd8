interface Waiter {
  readonly bytes: number
  readonly start: () => void
}

/**
 * The memory that inflated bodies may take together. A kilobyte of request becomes up to a megabyte, so that without
 * this a few small requests at once would take all the memory there is; with it they wait for each other.
 */
export class InflateBudget {
  #free: number
  readonly #waiting: Waiter[] = []

  /** Bytes. */
  constructor(total: number) {
    this.#free = total
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Resolves when `bytes` (at most the total) are free, first come first served. What is taken must be given back. */
  take(bytes: number): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push({ bytes, start: resolve })
      this.#serve()
    })
  }

  giveBack(bytes: number): void {
    this.#free += bytes
    this.#serve()
  }

  #serve(): void {
    for (;;) {
      const [next] = this.#waiting
      if (next === undefined || next.bytes > this.#free) return
      this.#waiting.shift()
      this.#free -= next.bytes
      next.start()
    }
  }
}
