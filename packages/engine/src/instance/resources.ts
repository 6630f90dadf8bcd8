import { ConchError } from '@conch/protocol'
import type { RatedSpec, ResourceLimit } from './contract.ts'

/** So many units of one resource; `pool` is the resource on its device, or everywhere. */
export interface Need {
  readonly pool: string
  readonly name: string
  readonly count: number
}

const GLOBAL = 'global'

/** The resources that instances share: how many units there are, and how many are in use. */
export class Resources {
  readonly #limits: readonly ResourceLimit[]
  /** What every registered instance needs. */
  readonly #needs = new Set<readonly Need[]>()
  readonly #used = new Map<string, number>()
  #capacities = new Map<string, number>()

  constructor(limits: readonly ResourceLimit[]) {
    this.#limits = limits
  }

  /** Throws the original's texts (dynamic batching §4). */
  check(specs: readonly RatedSpec[]): void {
    const added = specs.flatMap(listNeeds)
    for (const need of added) {
      const { name } = need
      const others = [...this.#needs].flat().concat(added)
      if (others.some((other) => other.name === name && isGlobal(other) !== isGlobal(need))) {
        const text = `Resource "${name}" is present as both global and device-specific resource in the model configuration.`
        throw new ConchError('INVALID_ARG', text)
      }
      const limit = this.#findLimit(need)
      if (limit !== undefined && limit < need.count) {
        const least = Math.max(...added.filter(({ pool }) => pool === need.pool).map(({ count }) => count))
        const text =
          `Resource count for "${name}" is limited to ${limit} which will prevent scheduling of one or more model ` +
          `instances, the minimum required count is ${least}`
        throw new ConchError('INVALID_ARG', text)
      }
    }
  }

  add(spec: RatedSpec): readonly Need[] {
    const needs = listNeeds(spec)
    this.#needs.add(needs)
    this.#measure()
    return needs
  }

  remove(needs: readonly Need[]): void {
    this.#needs.delete(needs)
    this.#measure()
  }

  take(needs: readonly Need[]): void {
    for (const { pool, count } of needs) this.#used.set(pool, this.inUse(pool) + count)
  }

  release(needs: readonly Need[]): void {
    for (const { pool, count } of needs) this.#used.set(pool, this.inUse(pool) - count)
  }

  inUse(pool: string): number {
    return this.#used.get(pool) ?? 0
  }

  openBudget(): Budget {
    return new Budget((pool) => (this.#capacities.get(pool) ?? 0) - this.inUse(pool))
  }

  /** Without a limit of its own a resource is as large as its hungriest instance. */
  #measure(): void {
    const capacities = new Map<string, number>()
    for (const need of [...this.#needs].flat()) {
      const known = capacities.get(need.pool) ?? 0
      capacities.set(need.pool, this.#findLimit(need) ?? Math.max(known, need.count))
    }
    this.#capacities = capacities
  }

  /** Undefined = none given. One that is given for some devices is 0 on the others. */
  #findLimit(need: Need): number | undefined {
    const named = this.#limits.filter(({ name }) => name === need.name)
    if (named.length === 0) return undefined
    if (isGlobal(need)) return Math.min(...named.map(({ count }) => count))
    const own = named.find(({ device }) => device !== undefined && need.pool === namePool(need.name, String(device)))
    return (own ?? named.find(({ device }) => device === undefined))?.count ?? 0
  }
}

/** What is free, less what is kept for those who come earlier. */
export class Budget {
  readonly #free: (pool: string) => number
  readonly #kept = new Map<string, number>()

  constructor(free: (pool: string) => number) {
    this.#free = free
  }

  covers(needs: readonly Need[]): boolean {
    return needs.every(({ pool, count }) => this.#free(pool) - (this.#kept.get(pool) ?? 0) >= count)
  }

  keep(needs: readonly Need[]): void {
    for (const { pool, count } of needs) this.#kept.set(pool, (this.#kept.get(pool) ?? 0) + count)
  }
}

/** The same resource written twice counts twice. */
function listNeeds({ kind, deviceId, rate }: RatedSpec): readonly Need[] {
  const needs = new Map<string, Need>()
  for (const { name, count, global } of rate?.resources ?? []) {
    const device = kind === 'KIND_GPU' ? String(deviceId) : 'cpu'
    const pool = namePool(name, global ? GLOBAL : device)
    needs.set(pool, { pool, name, count: count + (needs.get(pool)?.count ?? 0) })
  }
  return [...needs.values()]
}

function namePool(name: string, place: string): string {
  return `${place}/${name}`
}

function isGlobal({ pool }: Need): boolean {
  return pool.startsWith(`${GLOBAL}/`)
}
