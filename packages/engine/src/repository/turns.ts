/** Serialises operations that touch the same names; others run beside them. First come, first served per name. */
export class Turns {
  readonly #tails = new Map<string, Promise<void>>()

  /** Runs `work` when no earlier operation holds any of the names. */
  async run<T>(names: readonly string[], work: () => Promise<T>): Promise<T> {
    const earlier = names.flatMap((name) => this.#tails.get(name) ?? [])
    const { promise, resolve } = Promise.withResolvers<void>()
    for (const name of names) this.#tails.set(name, promise)
    try {
      await Promise.all(earlier)
      return await work()
    } finally {
      resolve()
      for (const name of names) if (this.#tails.get(name) === promise) this.#tails.delete(name)
    }
  }
}

/** At most `limit` pieces of work at once; the rest wait in order. */
export class Limit {
  readonly #limit: number
  readonly #waiting: (() => void)[] = []
  #running = 0

  constructor(limit: number) {
    this.#limit = Math.max(1, limit)
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#running += 1
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  /** For work that waits for other work under the same limit: its own place is free meanwhile. */
  async lend<T>(other: () => Promise<T>): Promise<T> {
    this.#leave()
    try {
      return await other()
    } finally {
      this.#running += 1
    }
  }

  #leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#running -= 1
    else next()
  }
}
