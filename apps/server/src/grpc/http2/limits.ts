/** What one HTTP/2 connection may cost (reference: trust §8.6). */
export const LIMITS = {
  /** Calls that are open at once on one connection. */
  streams: 1_024,
  /** Bytes a client may send on a stream, and on all of them, before it is told to go on. */
  streamWindow: 4 * 2 ** 20,
  connectionWindow: 16 * 2 ** 20,
  /** Largest frame that is accepted, bytes. DATA is handed on as it comes; other frames are held whole, up to `controlFrame`. */
  frame: 2 ** 20,
  controlFrame: 65_536,
  /** Letters of all header fields of a call and 32 bytes a field, as gRPC's C++ server takes them. */
  headerList: 16_384,
  /** Bytes of a header block over all of its frames. */
  headerBlock: 131_072,
  /** Bytes written that the client has not taken; then streams wait. */
  unsent: 4 * 2 ** 20,
  /** Frames that cost us and bring nothing (PING, SETTINGS, PRIORITY, empty DATA), and calls that are cancelled: so many at once, and a second. */
  idleFrames: { burst: 2_000, perSecond: 200 },
  resets: { burst: 2_000, perSecond: 200 },
  /** Milliseconds until the preface and the first SETTINGS must have come. */
  greeting: 10_000,
} as const

/** An allowance that refills with time. */
export class Allowance {
  readonly #rate: { readonly burst: number; readonly perSecond: number }
  #left: number
  #last = 0

  constructor(rate: { readonly burst: number; readonly perSecond: number }) {
    this.#rate = rate
    this.#left = rate.burst
  }

  /** False when it is used up. */
  take(): boolean {
    if (this.#left >= 1) {
      this.#left -= 1
      return true
    }
    const now = performance.now()
    if (this.#last === 0) this.#last = now - 1_000
    this.#left = Math.min(this.#rate.burst, ((now - this.#last) / 1_000) * this.#rate.perSecond)
    this.#last = now
    if (this.#left < 1) return false
    this.#left -= 1
    return true
  }
}
