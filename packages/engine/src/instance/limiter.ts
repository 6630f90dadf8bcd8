import type { RatedSpec, ResourceLimit, Slot } from './contract.ts'
import { Resources } from './resources.ts'
import type { Need } from './resources.ts'

/** One instance among all that share the resources. */
interface Member {
  readonly gate: Gate
  readonly slot: Slot
  readonly needs: readonly Need[]
  /** Larger = fewer turns. */
  readonly priority: number
  /** Those of one turn come in the order in which they were registered. */
  readonly order: number
  /** Where its last turn ended, on the clock of turns. */
  finish: number
  /** Where the turn that it waits for begins. */
  start: number
}

/**
 * Who may run now, over all models (`--rate-limit=execution_count`). An instance runs when the resources of its group are
 * free and nobody before it waits for them; what an earlier one still lacks is kept for it, so nobody starves. Turns go by
 * executions times priority, smallest first, as measured on the original (dynamic batching §4); one that was idle or was
 * loaded later does not catch up on what it did not ask for.
 */
export class RateLimiter {
  readonly #resources: Resources
  readonly #members = new Map<Slot, Member>()
  /** Instances that were asked for and had to wait. `true`: this one and no other of its pool. */
  readonly #wanted = new Map<Member, boolean>()
  /** The clock of turns: where the latest one began. */
  #now = 0
  #registered = 0
  #offering = false
  #asked: Member | undefined = undefined

  constructor(limits: readonly ResourceLimit[]) {
    this.#resources = new Resources(limits)
  }

  createGate(onFree: () => void): Gate {
    return new Gate(this, onFree)
  }

  /** Throws the original's texts when one of them could never run. */
  check(specs: readonly RatedSpec[]): void {
    this.#resources.check(specs)
  }

  register(gate: Gate, slot: Slot, spec: RatedSpec): void {
    const needs = this.#resources.add(spec)
    const priority = Math.max(spec.rate?.priority ?? 1, 1)
    this.#registered += 1
    this.#members.set(slot, {
      gate,
      slot,
      needs,
      priority,
      order: this.#registered,
      finish: this.#now,
      start: this.#now,
    })
  }

  unregister(slot: Slot): void {
    const member = this.#members.get(slot)
    if (member === undefined) return
    this.#members.delete(slot)
    this.#wanted.delete(member)
    this.#resources.remove(member.needs)
    this.offer()
  }

  /** The one of a pool's free instances whose turn it is. `exact`: the pool has no other in mind. */
  choose(free: readonly Slot[], exact: boolean): Slot | undefined {
    const mine = new Set(free.map((slot) => this.#members.get(slot)).filter((member) => member !== undefined))
    for (const member of mine) this.#want(member, exact)
    const chosen = this.#findNext((member) => mine.has(member))
    if (chosen === undefined) {
      this.offer()
      return undefined
    }
    for (const member of mine) if (this.#wanted.get(member) === false) this.#wanted.delete(member)
    this.#begin(chosen)
    return chosen.slot
  }

  release(slot: Slot): void {
    const member = this.#members.get(slot)
    if (member !== undefined) this.#resources.release(member.needs)
  }

  /**
   * Soon asks those who wait and can run, in their order, whether they still want to; whoever does takes its instance then.
   * Not now: a schedule that is at work this moment would not notice.
   */
  offer(): void {
    if (this.#offering || this.#wanted.size === 0) return
    this.#offering = true
    queueMicrotask(() => {
      for (let next = this.#findNext(); next !== undefined; next = this.#findNext()) {
        // It keeps its place for when it asks again, which it does now or not at all.
        this.#wanted.delete(next)
        this.#asked = next
        next.gate.onFree()
        this.#asked = undefined
      }
      this.#offering = false
    })
  }

  #want(member: Member, exact: boolean): void {
    const known = this.#wanted.get(member)
    if (known === undefined && member !== this.#asked) member.start = Math.max(member.finish, this.#now)
    this.#wanted.set(member, exact || known === true)
  }

  #begin(member: Member): void {
    this.#wanted.delete(member)
    this.#now = Math.max(this.#now, member.start)
    member.finish = member.start + member.priority
    this.#resources.take(member.needs)
  }

  /** The first who can run without taking what an earlier one waits for; only those that `isMine` lets through. */
  #findNext(isMine: (member: Member) => boolean = () => true): Member | undefined {
    if (this.#wanted.size === 0) return undefined
    const budget = this.#resources.openBudget()
    const kept = new Set<Gate>()
    for (const member of [...this.#wanted.keys()].toSorted(compareTurns)) {
      const { gate, needs } = member
      if (isMine(member) && budget.covers(needs)) return member
      // A pool that would take any of its instances needs the resources of one.
      const exact = this.#wanted.get(member) === true
      if (exact || !kept.has(gate)) budget.keep(needs)
      if (!exact) kept.add(gate)
    }
    return undefined
  }
}

function compareTurns(a: Member, b: Member): number {
  return a.start + a.priority - b.start - b.priority || a.priority - b.priority || a.order - b.order
}

/** What one pool knows of the limiter. */
export class Gate {
  readonly #limiter: RateLimiter
  /** Called when the pool may ask again. */
  readonly onFree: () => void

  constructor(limiter: RateLimiter, onFree: () => void) {
    this.#limiter = limiter
    this.onFree = onFree
  }

  check(specs: readonly RatedSpec[]): void {
    this.#limiter.check(specs)
  }

  register(slot: Slot, spec: RatedSpec): void {
    this.#limiter.register(this, slot, spec)
  }

  unregister(slot: Slot): void {
    this.#limiter.unregister(slot)
  }

  choose(free: readonly Slot[], exact: boolean): Slot | undefined {
    return this.#limiter.choose(free, exact)
  }

  /** The instance is at rest: its resources are free, though nobody is told yet. */
  release(slot: Slot): void {
    this.#limiter.release(slot)
  }

  offer(): void {
    this.#limiter.offer()
  }
}
