import type { InstancePool, Slot } from './contract.ts'
import type { Gate } from './limiter.ts'

/**
 * The instances of one model version. The one that was given back last is taken first: its memory is warm.
 * Instances can join and leave while the others work; one that is not healthy is not handed out until it is again.
 */
export class Pool implements InstancePool {
  onFree: () => void = () => undefined
  readonly #all = new Set<Slot>()
  readonly #free: Slot[] = []
  /** Idle, and not healthy. */
  readonly #down = new Set<Slot>()
  /** Slots that must not be taken again, and who waits for them to come back. */
  readonly #leaving = new Map<Slot, () => void>()
  readonly #pinned = new Set<Slot>()
  /** What the rate limiter lets through; undefined = everything. */
  gate: Gate | undefined = undefined

  get members(): ReadonlySet<Slot> {
    return this.#all
  }

  take(wanted?: Slot): Slot | undefined {
    if (this.gate !== undefined) return this.#pull(this.#choose(this.gate, wanted))
    return wanted === undefined ? this.#free.pop() : this.#pull(wanted)
  }

  #choose(gate: Gate, wanted: Slot | undefined): Slot | undefined {
    if (wanted === undefined) return gate.choose(this.#free, false)
    return this.#free.includes(wanted) ? gate.choose([wanted], true) : undefined
  }

  #pull(slot: Slot | undefined): Slot | undefined {
    const place = slot === undefined ? -1 : this.#free.indexOf(slot)
    if (place < 0) return undefined
    this.#free.splice(place, 1)
    return slot
  }

  give(slot: Slot): void {
    this.gate?.release(slot)
    this.#settle(slot)
    this.gate?.offer()
  }

  #settle(slot: Slot): void {
    if (this.#leaving.has(slot) && !this.#pinned.has(slot)) {
      this.#leaving.get(slot)?.()
      this.#leaving.delete(slot)
      return
    }
    if (slot.instance.healthy === false) {
      this.#down.add(slot)
      return
    }
    this.#free.push(slot)
    this.onFree()
  }

  add(slot: Slot): void {
    this.#all.add(slot)
    const { instance } = slot
    if (instance.healthy !== undefined) instance.onHealth = (healthy) => this.#turn(slot, healthy)
    this.#settle(slot)
  }

  #turn(slot: Slot, healthy: boolean): void {
    if (healthy) {
      if (this.#down.delete(slot)) this.#settle(slot)
      return
    }
    const idle = this.#free.indexOf(slot)
    if (idle < 0) return
    this.#free.splice(idle, 1)
    this.#down.add(slot)
  }

  pin(slot: Slot): void {
    this.#pinned.add(slot)
  }

  unpin(slot: Slot): void {
    this.#pinned.delete(slot)
    const leave = this.#leaving.get(slot)
    if (leave === undefined || !this.#withdraw(slot)) return
    this.#leaving.delete(slot)
    leave()
  }

  /** False when it is at work. */
  #withdraw(slot: Slot): boolean {
    return this.#down.delete(slot) || this.#pull(slot) !== undefined
  }

  /** Resolves when the instance is idle, not pinned and out of the pool; the caller closes it. */
  async remove(slot: Slot): Promise<void> {
    this.#all.delete(slot)
    const pinned = this.#pinned.has(slot)
    if (!pinned && this.#withdraw(slot)) return
    await new Promise<void>((resolve) => {
      this.#leaving.set(slot, resolve)
      // Whoever pinned it lets it go now if nothing needs it.
      if (pinned) this.onFree()
    })
  }

  get size(): number {
    return this.#all.size
  }

  get busy(): number {
    return this.#all.size - this.#free.length
  }
}
