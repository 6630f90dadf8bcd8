/** All times in microseconds. */
const FAST = 100
/** One run beyond this counts no more in the average: most likely the machine was busy elsewhere. */
const OUTLIER = 400
/** An inline trial may hold the event loop for about this long, no longer. */
const WORTH_A_TRIAL = 1_500
/** One such inline run ends inline runs, for a few runs at least. */
const SLOW = 5_000
/** One such inline run was felt by everybody: the next trial has to wait for much longer. */
const PAUSE = 20_000

/** Numbers of runs. */
const SHORTEST_WAIT = 2
const LONGEST_WAIT = 65_536
const WAIT_AFTER_PAUSE = 256
const FORGIVEN_AFTER = 64
const PAUSE_FORGIVEN_AFTER = 4_096

/**
 * Decides whether the next run happens on the calling thread or on another.
 *
 * The hop to another thread costs more than a small model itself, so a model that was seen to be fast runs inline. The
 * first runs never do, nor does one whose inputs are much larger than any that was seen to be fast. Every inline run is
 * measured: a slow average ends inline runs, a single slow one ends them at once. Each time, twice as many runs pass
 * until the next trial; runs that stay fast make up for that, since a busy machine makes any model look slow at times.
 */
export class Pace {
  readonly #bounded: boolean
  #inline = false
  /** Of inline runs; starts low enough to forgive the first of them, whose code is cold. */
  #average = FAST / 2
  /** Fast runs on another thread until an inline one may be tried. */
  #wait = SHORTEST_WAIT
  #nextWait = SHORTEST_WAIT
  #waitAfterPause = WAIT_AFTER_PAUSE
  /** Fast inline runs in a row. */
  #streak = 0
  /** The largest input, in bytes, that ran fast. */
  #provenBytes = 0

  /** `bounded`: whether the size of its inputs says how long the model may take. Without that it never runs inline. */
  constructor(bounded: boolean) {
    this.#bounded = bounded
  }

  chooseInline(bytes: number): boolean {
    if (!this.#bounded) return false
    if (!this.#inline && this.#wait > 0) return false
    return bytes <= 2 * this.#provenBytes + 1_024
  }

  /** A run that failed says nothing about speed, unless it was slow. */
  failedInline(elapsed: number): void {
    if (elapsed > SLOW) this.#stepBack(elapsed)
  }

  /** `elapsed` of a run elsewhere contains the hop and the wait for a thread: it is an upper bound. */
  ranElsewhere(elapsed: number, bytes: number): void {
    if (elapsed > WORTH_A_TRIAL) return
    if (bytes > this.#provenBytes) this.#provenBytes = bytes
    if (!this.#inline && this.#wait > 0) this.#wait -= 1
  }

  ranInline(elapsed: number, bytes: number): void {
    this.#inline = true
    this.#average += (Math.min(elapsed, OUTLIER) - this.#average) / 8
    if (this.#average > FAST || elapsed > SLOW) this.#stepBack(elapsed)
    else this.#goOn(bytes)
  }

  #goOn(bytes: number): void {
    if (bytes > this.#provenBytes) this.#provenBytes = bytes
    this.#streak += 1
    if (this.#streak % FORGIVEN_AFTER === 0) this.#nextWait = Math.max(SHORTEST_WAIT, this.#nextWait / 2)
    if (this.#streak % PAUSE_FORGIVEN_AFTER !== 0) return
    this.#waitAfterPause = Math.max(WAIT_AFTER_PAUSE, this.#waitAfterPause / 2)
  }

  #stepBack(elapsed: number): void {
    this.#inline = false
    this.#streak = 0
    this.#average = FAST / 2
    this.#provenBytes = 0
    this.#wait = this.#nextWait
    this.#nextWait = Math.min(2 * this.#nextWait, LONGEST_WAIT)
    if (elapsed < PAUSE) return
    this.#wait = Math.max(this.#wait, this.#waitAfterPause)
    this.#waitAfterPause = Math.min(4 * this.#waitAfterPause, LONGEST_WAIT)
  }
}
