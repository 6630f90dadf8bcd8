const STEPS = [0, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000] as const
/** A life this long, milliseconds, says that the next end is another story. */
const LONG_LIFE = 10_000

/** How long to wait before a process is started again: at once after a good life, longer each time it was of no use. */
export class BackOff {
  #failures = 0

  /** Milliseconds. */
  get delay(): number {
    return STEPS[Math.min(this.#failures, STEPS.length - 1)] ?? 0
  }

  /** A process has ended; `lived` is how long it had been ready, milliseconds. */
  ended(lived: number, answered: boolean): void {
    if (lived >= LONG_LIFE || (answered && this.#failures === 0)) this.#failures = 0
    else if (!answered) this.#failures += 1
  }

  /** It could not be started again. */
  failed(): void {
    this.#failures += 1
  }
}
