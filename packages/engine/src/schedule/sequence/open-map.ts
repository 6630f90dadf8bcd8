import type { OpenSequences } from '../contract.ts'
import type { Sequence } from './sequence.ts'

/** Sequences that requests can join, by id. */
export class OpenMap implements OpenSequences {
  readonly #open = new Map<bigint | string, Sequence>()
  #over: PromiseWithResolvers<void> | undefined = undefined

  get size(): number {
    return this.#open.size
  }

  has(id: bigint | string): boolean {
    return this.#open.has(id)
  }

  get(id: bigint | string): Sequence | undefined {
    return this.#open.get(id)
  }

  set(id: bigint | string, sequence: Sequence): void {
    this.#open.set(id, sequence)
  }

  delete(id: bigint | string): void {
    this.#open.delete(id)
    if (this.#open.size === 0) this.#over?.resolve()
  }

  /** A copy: closing one while they are walked through is fine. */
  values(): readonly Sequence[] {
    return [...this.#open.values()]
  }

  async ended(): Promise<void> {
    if (this.#open.size === 0) return
    this.#over ??= Promise.withResolvers()
    await this.#over.promise
  }

  forgo(): void {
    this.#over?.resolve()
  }
}
