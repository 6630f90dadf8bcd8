import { appendFile, writeFile } from 'node:fs/promises'

/** Characters that may wait for a slow disk; traces beyond it are dropped. */
const MOST_WAITING = 64 * 1024 * 1024

/** Where traces are written to: one array in the file itself, or one in each file with an index. Never in a request's way. */
export class TraceFile {
  readonly path: string
  /** Texts that were not written. */
  dropped = 0
  readonly #complain: (text: string) => void
  #index = 0
  #begun = false
  #waiting = 0
  #tail: Promise<void> = Promise.resolve()

  constructor(path: string, complain: (text: string) => void) {
    this.path = path
    this.#complain = complain
  }

  /** Objects of an array, joined by commas. */
  append(text: string): void {
    this.#enqueue(text, async () => {
      if (this.#begun) return appendFile(this.path, `,${text}`)
      await writeFile(this.path, `[${text}`)
      this.#begun = true
    })
  }

  writeIndexed(text: string): void {
    const path = `${this.path}.${this.#index++}`
    this.#enqueue(text, () => writeFile(path, `[${text}]`))
  }

  /** Writes what waits, and the end of the array. */
  async close(): Promise<void> {
    await this.#tail
    if (this.#begun) await appendFile(this.path, ']').catch((error: unknown) => this.#note(error))
    this.#begun = false
  }

  #enqueue(text: string, write: () => Promise<void>): void {
    if (this.#waiting + text.length > MOST_WAITING) return this.#note('the disk is too slow')
    this.#waiting += text.length
    this.#tail = this.#tail.then(async () => {
      try {
        await write()
      } catch (error) {
        this.#note(error)
      }
      this.#waiting -= text.length
    })
  }

  #note(reason: unknown): void {
    this.dropped += 1
    if (this.dropped === 1 || this.dropped % 1_000 === 0) {
      const text = reason instanceof Error ? reason.message : String(reason)
      this.#complain(`failed to write traces to '${this.path}' (${this.dropped} times): ${text}`)
    }
  }
}
