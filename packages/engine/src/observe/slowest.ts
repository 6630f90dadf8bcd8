import type { RequestStages } from './contract.ts'

const KEPT = 10
/** What is older says nothing about now. Milliseconds. */
const AGE = 10 * 60_000

/** A model's slowest requests of the last ten minutes. Asked for every request, so that it must answer at once. */
export class Slowest {
  /** Slowest first, with the stamps of their ends. */
  readonly #kept: { readonly stages: RequestStages; readonly end: number }[] = []
  /** Milliseconds; what takes no longer is not kept. */
  #floor = 0
  /** When one of those that are kept becomes too old. */
  #until = Infinity

  wants(duration: number, now: number): boolean {
    return duration > this.#floor || now > this.#until
  }

  take(stages: RequestStages, end: number): void {
    this.#dropOld(end)
    const at = this.#kept.findIndex((one) => one.stages.total < stages.total)
    this.#kept.splice(at < 0 ? this.#kept.length : at, 0, { stages, end })
    if (this.#kept.length > KEPT) this.#kept.pop()
    this.#measure()
  }

  list(now: number): readonly RequestStages[] {
    this.#dropOld(now)
    this.#measure()
    return this.#kept.map(({ stages }) => stages)
  }

  #dropOld(now: number): void {
    for (let at = this.#kept.length - 1; at >= 0; at--) {
      if (now - (this.#kept[at]?.end ?? 0) > AGE) this.#kept.splice(at, 1)
    }
  }

  #measure(): void {
    this.#floor = this.#kept.length < KEPT ? 0 : (this.#kept.at(-1)?.stages.total ?? 0) / 1e3
    this.#until = Math.min(...this.#kept.map(({ end }) => end)) + AGE
  }
}
