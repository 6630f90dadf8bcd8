import { byteAt, CLOSE_ARRAY, COMMA, OPEN_ARRAY, skipSpace } from './json-scan.ts'

/** Deepest nesting of `data` that is read; the original's limit. */
export const MAX_DATA_DEPTH = 100

/**
 * Reads a JSON `data` array, nested or flat, straight into typed memory.
 *
 * Readers take only the clean case: valid text, elements of the right kind, the right number of them. Anything else
 * yields -1 and is left to the slow path, which finds the words for it (`explainData`).
 */
export abstract class DataReader {
  protected readonly bytes: Uint8Array
  /** Elements stored so far. */
  protected filled = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /**
   * Reads elements from `at` on as long as only commas (and one blank) lie between them.
   * Returns the position behind the last one, or -1.
   */
  protected abstract run(at: number): number

  /** True when the number of elements read is the one the shape asks for. */
  protected abstract isComplete(): boolean

  /** `at` is the opening bracket. Returns the position behind the closing one, or -1. */
  read(at: number): number {
    let depth = 0
    /** Whether an element (or an array) must come next. */
    let wanted = true
    for (;;) {
      at = skipSpace(this.bytes, at)
      switch (byteAt(this.bytes, at)) {
        case COMMA:
          if (wanted) return -1
          wanted = true
          at += 1
          break
        case OPEN_ARRAY:
          if (!wanted || depth === MAX_DATA_DEPTH) return -1
          depth += 1
          at = skipSpace(this.bytes, at + 1)
          wanted = this.bytes[at] !== CLOSE_ARRAY
          break
        case CLOSE_ARRAY:
          if (wanted) return -1
          depth -= 1
          if (depth === 0) return this.#finish(at + 1)
          at += 1
          break
        default:
          if (!wanted) return -1
          wanted = false
          at = this.run(at)
          if (at < 0) return -1
      }
    }
  }

  #finish(end: number): number {
    return this.isComplete() ? end : -1
  }
}
