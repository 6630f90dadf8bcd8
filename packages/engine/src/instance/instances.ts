import type { ModelConfig } from '@conch/protocol'
import type { BackendModel } from '../backend/contract.ts'
import type { RatedSpec, Slot } from './contract.ts'
import { instanceSignature } from './groups.ts'
import type { RateLimiter } from './limiter.ts'
import { Pool } from './pool.ts'
import { Readiness } from './readiness.ts'
import { warmUp } from './warmup.ts'
import type { WarmupParts } from './warmup.ts'

interface Made extends Slot {
  readonly signature: string
  readonly spec: RatedSpec
}

/** More at once would keep other models from loading. */
const MADE_AT_ONCE = 4

/** The instances of one model version: made, warmed, exchanged while the others work, closed. */
export class Instances {
  readonly pool = new Pool()
  readonly #slots = new Set<Made>()
  readonly #readiness = new Readiness()
  readonly #model: BackendModel
  readonly #warmup: Omit<WarmupParts, 'config'>

  constructor(model: BackendModel, warmup: Omit<WarmupParts, 'config'>, limiter?: RateLimiter) {
    this.#model = model
    this.#warmup = warmup
    this.pool.gate = limiter?.createGate(() => this.pool.onFree())
  }

  /**
   * Makes the instances be those of `specs`: equal ones are kept, whatever their names. On failure nothing changed.
   * Resolves when the removed ones are idle and closed.
   */
  async become(specs: readonly RatedSpec[], config: ModelConfig): Promise<void> {
    const surplus = new Set(this.#slots)
    const missing = specs.filter((spec) => {
      const signature = instanceSignature(spec)
      const kept = [...surplus].find((slot) => slot.signature === signature)
      if (kept !== undefined) surplus.delete(kept)
      return kept === undefined
    })
    this.pool.gate?.check(missing)
    for (const slot of await this.#makeAll(missing, config)) {
      this.#slots.add(slot)
      this.pool.gate?.register(slot, slot.spec)
      this.pool.add(slot)
    }
    await Promise.all([...surplus].map((slot) => this.#retire(slot)))
  }

  /** Rejects with the reason when one of them could not work now. */
  checkReady(): Promise<void> {
    return this.#readiness.check(this.#slots)
  }

  list(): readonly Slot[] {
    return [...this.#slots]
  }

  /** Closes all of them, each when it is idle. */
  async close(): Promise<void> {
    await Promise.all([...this.#slots].map((slot) => this.#retire(slot)))
  }

  async #makeAll(specs: readonly RatedSpec[], config: ModelConfig): Promise<readonly Made[]> {
    const made: (Made | undefined)[] = specs.map(() => undefined)
    let failure: { readonly error: unknown } | undefined
    let next = 0
    const make = async () => {
      while (next < specs.length && failure === undefined) {
        const at = next++
        const spec = specs[at]
        if (spec !== undefined) made[at] = await this.#make(spec, config)
      }
    }
    const lanes = Array.from({ length: MADE_AT_ONCE }, () =>
      make().catch((error: unknown) => {
        failure ??= { error }
      }),
    )
    await Promise.all(lanes)
    const slots = made.filter((slot) => slot !== undefined)
    if (failure === undefined) return slots
    await Promise.allSettled(slots.map((slot) => slot.instance.close()))
    throw failure.error
  }

  async #make(spec: RatedSpec, config: ModelConfig): Promise<Made> {
    const instance = await this.#model.createInstance(spec)
    const slot = { name: spec.name, instance, signature: instanceSignature(spec), spec }
    try {
      await warmUp(slot, { ...this.#warmup, config })
    } catch (error) {
      await instance.close()
      throw error
    }
    return slot
  }

  async #retire(slot: Made): Promise<void> {
    this.#slots.delete(slot)
    await this.pool.remove(slot)
    this.pool.gate?.unregister(slot)
    await slot.instance.close()
  }
}
