import { refuseCancelled } from './cancelled.ts'

interface Work<T> {
  readonly result: Promise<T>
  readonly stop: AbortController
  waiting: number
}

/** Callers that ask for the same thing at the same time share the work; it is stopped when none of them waits any more. */
export class Together<T> {
  readonly #works = new Map<string, Work<T>>()

  /** True while somebody works on `key`. */
  has(key: string): boolean {
    return this.#works.has(key)
  }

  run(key: string, signal: AbortSignal | undefined, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (signal?.aborted === true) return Promise.reject(refuseCancelled())
    const work = this.#works.get(key) ?? this.#begin(key, start)
    work.waiting += 1
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        work.waiting -= 1
        // The last one waits until nothing of it is left.
        if (work.waiting > 0) return reject(refuseCancelled())
        this.#forget(key, work)
        work.stop.abort()
      }
      signal?.addEventListener('abort', leave, { once: true })
      const settled = (): void => signal?.removeEventListener('abort', leave)
      work.result.finally(settled).then(resolve, reject)
    })
  }

  #begin(key: string, start: (signal: AbortSignal) => Promise<T>): Work<T> {
    const stop = new AbortController()
    const work: Work<T> = { result: start(stop.signal).finally(() => this.#forget(key, work)), stop, waiting: 0 }
    this.#works.set(key, work)
    return work
  }

  /** Whoever asks from now on begins anew. */
  #forget(key: string, work: Work<T>): void {
    if (this.#works.get(key) === work) this.#works.delete(key)
  }
}
