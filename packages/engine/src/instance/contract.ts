import type { BackendInstance } from '../backend/contract.ts'

/** An instance that can be taken, one batch at a time. */
export interface Slot {
  readonly name: string
  readonly instance: BackendInstance
}

/** The instances of one model version. */
export interface InstancePool {
  /** A free instance, or undefined when all are busy (then `onFree` will be called). */
  take(): Slot | undefined
  give(slot: Slot): void
  /** The schedule's wake-up: called after an instance became free. */
  onFree: () => void
  readonly size: number
  readonly busy: number
}
