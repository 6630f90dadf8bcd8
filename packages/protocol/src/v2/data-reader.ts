import { CLOSE_ARRAY, COMMA, OPEN_ARRAY } from './json-scan.ts'

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
    const s = this.bytes
    let depth = 0
    let wanted = true
    for (;;) {
      const c = s[at] ?? 0
      if (c === COMMA || c === OPEN_ARRAY) {
        if (wanted === (c === COMMA)) return -1
        wanted = true
        if (c === OPEN_ARRAY) depth += 1
        if (depth > MAX_DATA_DEPTH) return -1
        at += 1
      } else if (c === CLOSE_ARRAY) {
        if (wanted && !isEmptyArray(s, at)) return -1
        wanted = false
        depth -= 1
        at += 1
        if (depth === 0) return this.isComplete() ? at : -1
      } else if (c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09) {
        at += 1
      } else {
        at = wanted ? this.run(at) : -1
        if (at < 0) return -1
        wanted = false
      }
    }
  }
}

/** Whether the bracket at `at` closes an array with nothing in it, rather than one that ends in a comma. */
function isEmptyArray(s: Uint8Array, at: number): boolean {
  let before = at - 1
  while ((s[before] ?? 0) <= 0x20) before -= 1
  return s[before] === OPEN_ARRAY
}
