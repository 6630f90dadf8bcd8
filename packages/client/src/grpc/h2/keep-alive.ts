export interface KeepAliveOptions {
  /** Milliseconds of silence after which the server is asked whether it is still there; left out = never. */
  readonly timeMs?: number | undefined
  /** Milliseconds in which it must answer. */
  readonly timeoutMs?: number | undefined
  /** Ask also while no call is open. */
  readonly withoutCalls?: boolean | undefined
}

interface Wire {
  ping(): void
  lost(): void
  calls(): number
}

/** Asks a silent server for a sign of life. Anything it sends is one. */
export class KeepAlive {
  readonly #options: KeepAliveOptions
  readonly #wire: Wire
  #timer: NodeJS.Timeout | undefined = undefined
  #lastHeard = 0
  #asked = false

  constructor(options: KeepAliveOptions, wire: Wire) {
    this.#options = options
    this.#wire = wire
    this.touch()
  }

  heard(): void {
    this.#asked = false
    if (this.#timer !== undefined) this.#lastHeard = performance.now()
  }

  /** A call begins: the clock runs from now, unless it does already. */
  touch(): void {
    const { timeMs } = this.#options
    if (timeMs === undefined || this.#timer !== undefined) return
    this.#lastHeard = performance.now()
    this.#wait(timeMs)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#check(), ms).unref()
  }

  #check(): void {
    const { timeMs = 0, timeoutMs = 20_000, withoutCalls = false } = this.#options
    this.#timer = undefined
    if (this.#asked) {
      this.#wire.lost()
      return
    }
    if (this.#wire.calls() === 0 && !withoutCalls) return
    const silent = performance.now() - this.#lastHeard
    if (silent < timeMs) {
      this.#wait(timeMs - silent)
      return
    }
    this.#asked = true
    this.#wire.ping()
    this.#wait(timeoutMs)
  }
}
