/** gRPC's keep-alive options, milliseconds (reference: cli, gRPC §1); `Infinity` = never. */
export interface PingPolicy {
  /** Quiet time after which we ask whether the client is still there, and how long we wait for its answer. */
  readonly time: number
  readonly timeout: number
  readonly withoutCalls: boolean
  /** How often a client may ask while nothing is sent, and how often it may ask too early. */
  readonly leastInterval: number
  readonly strikes: number
  /** How often we ask while nothing else is sent; 0 = as often as it takes. */
  readonly withoutData: number
}

const TWO_HOURS = 7_200_000

/** Judges a client's pings and sends ours. */
export class PingRules {
  readonly #policy: PingPolicy
  readonly #act: { ping(): void; lost(): void; calls(): number }
  #lastPing = -Infinity
  #strikes = 0
  #heard = performance.now()
  #asked = 0
  #unheard = 0
  #timer: NodeJS.Timeout | undefined = undefined

  constructor(policy: PingPolicy, act: { ping(): void; lost(): void; calls(): number }) {
    this.#policy = policy
    this.#act = act
    if (policy.time < 2 ** 31) this.#wait(policy.time)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  /** Headers came or went: pings are welcome again. */
  work(): void {
    this.#lastPing = -Infinity
    this.#strikes = 0
    this.#unheard = 0
    this.#heard = performance.now()
  }

  /** Whether a client's ping is still tolerated. */
  accept(): boolean {
    const { withoutCalls, leastInterval, strikes } = this.#policy
    const now = performance.now()
    const least = this.#act.calls() === 0 && !withoutCalls ? TWO_HOURS : leastInterval
    const early = now < this.#lastPing + least
    this.#lastPing = now
    this.#heard = now
    if (!early) return true
    this.#strikes += 1
    return strikes === 0 || this.#strikes <= strikes
  }

  answered(): void {
    this.#asked = 0
    this.#heard = performance.now()
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#look(), ms)
    this.#timer.unref()
  }

  #look(): void {
    const { time, timeout } = this.#policy
    const now = performance.now()
    if (this.#asked > 0 && now - this.#asked >= timeout) {
      this.#act.lost()
      return
    }
    const quiet = now - this.#heard
    if (this.#asked === 0 && quiet >= time && this.#mayAsk()) {
      this.#asked = now
      this.#unheard += 1
      this.#act.ping()
      this.#wait(timeout)
    } else this.#wait(Math.max(1, time - quiet, this.#asked > 0 ? timeout : 0))
  }

  #mayAsk(): boolean {
    const { withoutCalls, withoutData } = this.#policy
    return (withoutCalls || this.#act.calls() > 0) && (withoutData === 0 || this.#unheard < withoutData)
  }
}
