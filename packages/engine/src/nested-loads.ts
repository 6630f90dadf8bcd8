import { ConchError } from '@conch/protocol'

/** Models that load others while they are being loaded themselves: who waits for whom. */
export class NestedLoads {
  /** How many versions of a model are being made now. */
  readonly #made = new Map<string, number>()
  /** By the model that waits. */
  readonly #waits = new Map<string, Set<string>>()

  /** Runs `make`, which makes a version of the model. */
  async making<T>(model: string, make: () => Promise<T>): Promise<T> {
    this.#made.set(model, (this.#made.get(model) ?? 0) + 1)
    try {
      return await make()
    } finally {
      const left = (this.#made.get(model) ?? 1) - 1
      if (left === 0) this.#made.delete(model)
      else this.#made.set(model, left)
    }
  }

  isMaking(model: string): boolean {
    return this.#made.has(model)
  }

  /** Runs `load`, for which a model that is being made waits. Throws when it would wait for itself. */
  async waiting<T>(caller: string, model: string, load: () => Promise<T>): Promise<T> {
    const path = this.#findPath(model, caller)
    if (path !== undefined) {
      const chain = [caller, ...path].join(' → ')
      throw new ConchError('INTERNAL', `loading '${model}' would wait for itself: ${chain}`)
    }
    const waits = this.#waits.get(caller) ?? new Set<string>()
    this.#waits.set(caller, waits.add(model))
    try {
      return await load()
    } finally {
      waits.delete(model)
      if (waits.size === 0) this.#waits.delete(caller)
    }
  }

  /** Who waits for whom, from one to the other. */
  #findPath(from: string, to: string, seen: ReadonlySet<string> = new Set()): readonly string[] | undefined {
    if (from === to) return [from]
    if (seen.has(from)) return undefined
    const further = new Set([...seen, from])
    for (const next of this.#waits.get(from) ?? []) {
      const rest = this.#findPath(next, to, further)
      if (rest !== undefined) return [from, ...rest]
    }
    return undefined
  }
}
