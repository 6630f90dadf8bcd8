import type { InstancePool, Slot } from './contract.ts'

/**
 * The instances of one model version. The one that was given back last is taken first: its memory is warm.
 * Instances can join and leave while the others work.
 */
export class Pool implements InstancePool {
  onFree: () => void = () => undefined
  readonly #all = new Set<Slot>()
  readonly #free: Slot[] = []
  /** Slots that must not be taken again, and who waits for them to come back. */
  readonly #leaving = new Map<Slot, () => void>()

  take(): Slot | undefined {
    return this.#free.pop()
  }

  give(slot: Slot): void {
    if (this.#leaving.size > 0 && this.#leaving.has(slot)) {
      this.#leaving.get(slot)?.()
      this.#leaving.delete(slot)
      return
    }
    this.#free.push(slot)
    this.onFree()
  }

  add(slot: Slot): void {
    this.#all.add(slot)
    this.give(slot)
  }

  /** Resolves when the instance is idle and out of the pool; the caller closes it. */
  async remove(slot: Slot): Promise<void> {
    this.#all.delete(slot)
    const idle = this.#free.indexOf(slot)
    if (idle >= 0) {
      this.#free.splice(idle, 1)
      return
    }
    await new Promise<void>((resolve) => this.#leaving.set(slot, resolve))
  }

  get size(): number {
    return this.#all.size
  }

  get busy(): number {
    return this.#all.size + this.#leaving.size - this.#free.length
  }
}
