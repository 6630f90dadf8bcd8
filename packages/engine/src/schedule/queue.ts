import { ConchError } from '@conch/protocol'
import type { ModelDynamicBatching, ModelQueuePolicy } from '@conch/protocol'
import type { Reporter } from '../observe/contract.ts'
import { nameRequest } from '../request.ts'
import type { ActiveRequest, Outcome } from '../request.ts'
import type { Deadlines } from './deadlines.ts'
import { Waiting, WaitingList } from './waiting-list.ts'
import type { WaitingOwner } from './waiting-list.ts'

/** One priority level: those in time, then those whose time is over and that the policy only delays. */
interface Level {
  readonly policy: ModelQueuePolicy | undefined
  readonly inTime: WaitingList
  readonly delayed: WaitingList
}

export interface QueueParts {
  /** Undefined for models without dynamic batching: one level, no limits. */
  readonly batching: ModelDynamicBatching | undefined
  readonly reporter: Reporter
  readonly deadlines: Deadlines
  /** Ends a request that will not be served. */
  readonly fail: (request: ActiveRequest, error: unknown, outcome: Outcome) => void
  /** Called after a request left the queue otherwise than by `take`: the head may be another one now. */
  readonly onChange: () => void
}

/** Requests waiting for an instance: priority levels, first come first served within each, limits, timeouts. */
export class Queue implements WaitingOwner {
  readonly #parts: QueueParts
  /** By level, ascending; made when first used, as there may be 2^64 of them. */
  readonly #levels = new Map<number, Level>()
  #order: Level[] = []
  length = 0

  constructor(parts: QueueParts) {
    this.#parts = parts
  }

  /** Throws when the level is full. */
  push(request: ActiveRequest): void {
    const number = chooseLevel(this.#parts.batching, request.request.priority)
    const level = this.#level(number)
    const limit = level.policy?.max_queue_size ?? 0
    if (limit !== 0 && level.inTime.length + level.delayed.length >= limit) {
      throw new ConchError('UNAVAILABLE', `${nameRequest(request.request.id)}Exceeds maximum queue size`)
    }
    const timeout = chooseTimeout(level.policy, request.request.timeout)
    const expiry = timeout === 0 ? Infinity : request.timings.queued + timeout
    const waiting = new Waiting(this, request, { level: number, expiry })
    level.inTime.push(waiting)
    this.length += 1
    this.#parts.reporter.pending(1)
    if (expiry !== Infinity) this.#parts.deadlines.add(waiting)
    request.signal?.addEventListener('abort', waiting, { once: true })
  }

  /** The first requests, at most as many as could form a batch of `maxRows` and one more. */
  peek(maxRows: number): readonly Waiting[] {
    const first: Waiting[] = []
    let rows = 0
    for (const level of this.#order) {
      rows = collect(level.inTime, first, { rows, maxRows })
      rows = collect(level.delayed, first, { rows, maxRows })
    }
    return first
  }

  /** The first request, removed. */
  shift(): ActiveRequest | undefined {
    for (const level of this.#order) {
      const waiting = level.inTime.head ?? level.delayed.head
      if (waiting !== undefined) return this.take(waiting)
    }
    return undefined
  }

  take(waiting: Waiting): ActiveRequest {
    this.#leave(waiting)
    return waiting.request
  }

  expired(waiting: Waiting): void {
    const level = this.#level(waiting.level)
    if (level.policy?.timeout_action === 'DELAY') {
      waiting.list?.remove(waiting)
      waiting.at = Infinity
      level.delayed.push(waiting)
    } else {
      this.#leave(waiting)
      this.#parts.fail(waiting.request, new ConchError('UNAVAILABLE', 'Request timeout expired'), 'rejected')
    }
    this.#parts.onChange()
  }

  cancelled(waiting: Waiting): void {
    this.#leave(waiting)
    this.#parts.fail(waiting.request, new ConchError('CANCELLED', ''), 'cancelled')
    this.#parts.onChange()
  }

  #leave(waiting: Waiting): void {
    waiting.list?.remove(waiting)
    this.length -= 1
    this.#parts.reporter.pending(-1)
    if (waiting.at !== Infinity) this.#parts.deadlines.cancel(waiting)
    waiting.request.signal?.removeEventListener('abort', waiting)
  }

  #level(number: number): Level {
    const known = this.#levels.get(number)
    if (known !== undefined) return known
    const { batching } = this.#parts
    const policy = batching?.priority_queue_policy[String(number)] ?? batching?.default_queue_policy
    const level = { policy, inTime: new WaitingList(), delayed: new WaitingList() }
    this.#levels.set(number, level)
    this.#order = [...this.#levels].toSorted(([a], [b]) => a - b).map(([, one]) => one)
    return level
  }
}

/** Appends a list's requests until there are more rows than wanted; returns the rows. */
function collect(list: WaitingList, into: Waiting[], from: { rows: number; maxRows: number }): number {
  let { rows } = from
  for (let waiting = list.head; waiting !== undefined && rows <= from.maxRows; waiting = waiting.next) {
    into.push(waiting)
    rows += waiting.rows
  }
  return rows
}

/** 0 and levels that the model does not have mean its default (dynamic batching §2). */
function chooseLevel(batching: ModelDynamicBatching | undefined, asked: number): number {
  if (batching === undefined || batching.priority_levels === 0n) return 0
  const known = asked > 0 && BigInt(asked) <= batching.priority_levels
  return known ? asked : Number(batching.default_priority_level)
}

/** Milliseconds; 0 = none. A request may only shorten the policy's timeout. */
function chooseTimeout(policy: ModelQueuePolicy | undefined, asked: number): number {
  const own = Number(policy?.default_timeout_microseconds ?? 0n)
  const shorter = policy?.allow_timeout_override === true && asked !== 0 && asked < own
  return (shorter ? asked : own) / 1_000
}
