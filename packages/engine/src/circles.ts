import { ConchError } from '@conch/protocol'
import type { Slot } from './instance/contract.ts'
import { findWaiting } from './request.ts'
import type { Flight } from './request.ts'

/** Models that wait for each other, the client's own among them. */
const DEEPEST = 16

/** A version that is asked on behalf of a request. */
export interface CallTarget {
  readonly plan: { readonly model: string }
  /** None for ensembles. */
  readonly instances: readonly Slot[]
}

/** A request of one model to another, and the request whose instance waits for it. */
interface Call {
  readonly flight: Flight
  readonly holder: Flight
  /** Where the holder was when it called. */
  readonly from: object
  readonly target: CallTarget
}

/**
 * Refuses calls that would wait for themselves. An instance is blocked when a call made from it is stuck; a call is stuck
 * when the instance it runs on is blocked, or, while it waits, when all instances of its model are. Only a new call can
 * close such a circle, so each is looked at once, and most of them not closely: their model makes no calls.
 */
export class Circles {
  /** By the instance that waits. */
  readonly #calls = new Map<object, Set<Call>>()
  readonly #byFlight = new Map<Flight, Call>()

  /** Throws when the call can never be answered, or nests too deep. */
  check(target: CallTarget, chain: readonly string[]): void {
    if (chain.length >= DEEPEST) {
      const names = [...chain, target.plan.model].join(' → ')
      throw new ConchError('INTERNAL', `more than ${DEEPEST} models wait for each other: ${names}`)
    }
    const holder = findHolder(findWaiting(chain))
    if (holder?.instance === undefined) return
    const { instances } = target
    const mayBlock = (slot: Slot) => slot.instance === holder.instance || this.#calls.has(slot.instance)
    if (instances.length === 0 || !instances.every(mayBlock)) return
    const blocked = this.#findBlocked(holder.instance, target)
    if (!instances.every((slot) => blocked.has(slot.instance))) return
    const count = instances.length === 1 ? 'its only instance waits' : `all its ${instances.length} instances wait`
    const { model } = target.plan
    const names = [...chain, model]
    throw new ConchError(
      'INTERNAL',
      `it would wait for itself: ${names.join(' → ')}. Model '${model}' has to answer this call, and ${count} for it; ` +
        `more instances of '${model}' help if the calls come to an end`,
    )
  }

  /** `asking` waits for one more call, to `target`. */
  #findBlocked(asking: object, target: CallTarget): ReadonlySet<object> {
    const blocked = new Set([...this.#calls.keys(), asking])
    const isFull = ({ instances }: CallTarget) =>
      instances.length > 0 && instances.every((slot) => blocked.has(slot.instance))
    const isStuck = ({ flight, holder, from, target: asked }: Call) => {
      if (holder.instance !== from || flight.done) return false
      if (flight.instance !== undefined) return blocked.has(flight.instance)
      return flight.timings.computeStart === 0 && isFull(asked)
    }
    let before: number
    do {
      before = blocked.size
      for (const instance of blocked) {
        const stuck = (instance === asking && isFull(target)) || [...(this.#calls.get(instance) ?? [])].some(isStuck)
        if (!stuck) blocked.delete(instance)
      }
    } while (blocked.size < before)
    return blocked
  }

  begin(flight: Flight, target: CallTarget): void {
    const holder = findHolder(flight.outer)
    if (holder?.instance === undefined || flight.done) return
    const from = holder.instance
    const call = { flight, holder, from, target }
    this.#byFlight.set(flight, call)
    const calls = this.#calls.get(from)
    if (calls === undefined) this.#calls.set(from, new Set([call]))
    else calls.add(call)
  }

  end(flight: Flight): void {
    const call = this.#byFlight.get(flight)
    if (call === undefined) return
    this.#byFlight.delete(flight)
    const calls = this.#calls.get(call.from)
    calls?.delete(call)
    if (calls?.size === 0) this.#calls.delete(call.from)
  }
}

/** The nearest request up the chain that is on an instance; ensembles are on none, decoupled ones leave theirs. */
function findHolder(flight: Flight | undefined): Flight | undefined {
  let holder = flight
  while (holder !== undefined && holder.instance === undefined) holder = holder.outer
  return holder
}
