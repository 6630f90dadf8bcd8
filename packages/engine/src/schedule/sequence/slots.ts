import type { InstancePool, Slot } from '../../instance/contract.ts'

/** A place that one sequence can hold. */
export interface Place<T> {
  readonly lane: Lane<T>
  readonly index: number
  holder: T | undefined
}

/** The places of one instance. */
export interface Lane<T> {
  readonly instance: Slot
  /** As many as were ever held at the same time. */
  readonly places: Place<T>[]
  taken: number
  /** No place below is free. */
  lowest: number
}

/**
 * Places over the instances of a version: a free one with the lowest number is taken first, so that instances fill
 * evenly (sequence §3). An instance that leaves gets nobody new and is let go when its last place is free.
 */
export class Slots<T> {
  readonly #pool: InstancePool
  readonly #perInstance: number
  readonly #lanes = new Map<Slot, Lane<T>>()

  constructor(pool: InstancePool, perInstance: number) {
    this.#pool = pool
    this.#perInstance = perInstance
  }

  get lanes(): Iterable<Lane<T>> {
    return this.#lanes.values()
  }

  /** Follows the pool: instances that joined get places, those that left and hold nobody are let go. */
  follow(): void {
    const { members } = this.#pool
    for (const instance of members) if (!this.#lanes.has(instance)) this.#add(instance)
    if (this.#lanes.size === members.size) return
    for (const lane of this.#lanes.values()) if (lane.taken === 0 && !members.has(lane.instance)) this.#drop(lane)
  }

  #add(instance: Slot): void {
    this.#lanes.set(instance, { instance, places: [], taken: 0, lowest: 0 })
    this.#pool.pin(instance)
  }

  #drop(lane: Lane<T>): void {
    this.#lanes.delete(lane.instance)
    this.#pool.unpin(lane.instance)
  }

  /** Undefined when all are held. */
  take(holder: T): Place<T> | undefined {
    let best: Place<T> | undefined
    for (const lane of this.#lanes.values()) {
      const free = this.#findFree(lane)
      if (free !== undefined && (best === undefined || free.index < best.index)) best = free
    }
    if (best === undefined) return undefined
    best.holder = holder
    best.lane.taken += 1
    return best
  }

  #findFree(lane: Lane<T>): Place<T> | undefined {
    const { instance, places } = lane
    if (!this.#pool.members.has(instance) || instance.instance.healthy === false) return undefined
    while (places[lane.lowest]?.holder !== undefined) lane.lowest += 1
    if (lane.lowest < places.length || lane.lowest >= this.#perInstance) return places[lane.lowest]
    const place = { lane, index: lane.lowest, holder: undefined }
    places.push(place)
    return place
  }

  release(place: Place<T>): void {
    const { lane, index } = place
    place.holder = undefined
    lane.taken -= 1
    lane.lowest = Math.min(lane.lowest, index)
    if (lane.taken === 0 && !this.#pool.members.has(lane.instance)) this.#drop(lane)
  }

  /** Lets every instance go; whoever held a place is forgotten. */
  clear(): void {
    for (const lane of this.#lanes.values()) this.#drop(lane)
  }
}
