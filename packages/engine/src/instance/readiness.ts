import { ConchError } from '@conch/protocol'
import type { Slot } from './contract.ts'

/** Milliseconds that a model's own check may take (python-backend §6). */
const LONGEST_CHECK = 5_000

/** Whether instances could work now: their health, then the model's own check. An instance is asked once at a time. */
export class Readiness {
  readonly #running = new Map<Slot, Promise<void>>()

  /** Rejects with the first reason why not; every instance must be ready. */
  async check(slots: Iterable<Slot>): Promise<void> {
    await Promise.all([...slots].map((slot) => this.#checkOne(slot)))
  }

  async #checkOne(slot: Slot): Promise<void> {
    if (slot.instance.healthy === false) throw unhealthy(slot)
    if (slot.instance.checkReady === undefined) return
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      const text = 'Timed out waiting for user-defined is_ready() response'
      timer = setTimeout(() => reject(new ConchError('UNAVAILABLE', text)), LONGEST_CHECK)
    })
    try {
      await Promise.race([this.#ask(slot), late])
    } finally {
      clearTimeout(timer)
    }
  }

  /** A question that is not answered in time stays the only one. */
  #ask(slot: Slot): Promise<void> {
    const running = this.#running.get(slot)
    if (running !== undefined) return running
    const asked = (slot.instance.checkReady?.() ?? Promise.resolve()).finally(() => this.#running.delete(slot))
    this.#running.set(slot, asked)
    // It may fail after everybody stopped waiting for it.
    asked.catch(() => undefined)
    return asked
  }
}

function unhealthy(slot: Slot): ConchError {
  const exit = slot.instance.process?.lastExit
  const why = exit === undefined ? '' : ` (${exit})`
  return new ConchError('INTERNAL', `Stub process '${slot.name}' is not healthy.${why}`)
}
