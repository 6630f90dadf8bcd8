import type { ModelRateLimiter } from '@conch/protocol'
import type { BackendInstance, InstanceSpec } from '../backend/contract.ts'

/** An instance that can be taken, one batch at a time. */
export interface Slot {
  readonly name: string
  readonly instance: BackendInstance
}

/** The instances of one model version. */
export interface InstancePool {
  /** A free instance, or undefined when all are busy (then `onFree` will be called). `wanted`: this one and no other. */
  take(wanted?: Slot): Slot | undefined
  give(slot: Slot): void
  /** The schedule's wake-up: called after an instance became free. */
  onFree: () => void
  /** Those that may begin something new. */
  readonly members: ReadonlySet<Slot>
  /** A pinned instance serves whoever wants it and leaves only after it was unpinned. */
  pin(slot: Slot): void
  unpin(slot: Slot): void
  readonly size: number
  /** Those that cannot be taken now: at work, or not healthy. */
  readonly busy: number
}

/** An instance as its group describes it to the rate limiter. */
export interface RatedSpec extends InstanceSpec {
  readonly rate?: ModelRateLimiter | undefined
}

/** Units of a resource that there are for instances to share. */
export interface ResourceLimit {
  readonly name: string
  readonly count: number
  /** Undefined = on each device. */
  readonly device: number | undefined
}
