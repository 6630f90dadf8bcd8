import type { ModelConfig } from '@conch/protocol'
import type { InstancePool } from '../instance/contract.ts'
import type { Reporter } from '../observe/contract.ts'
import type { ActiveRequest } from '../request.ts'

/** Who runs next, and with whom. One per loaded model version. */
export interface Scheduler {
  /** Takes responsibility for the request: it will be answered or failed, once. Throws when it refuses. */
  enqueue(request: ActiveRequest): void
  /** Requests taken and not yet answered. */
  readonly inflight: number
  /** Requests waiting for an instance. */
  readonly pending: number
  /** Refuses new requests and resolves when none is in flight. */
  stop(): Promise<void>
}

/** What a scheduler works with. */
export interface ScheduleParts {
  readonly model: string
  readonly version: string
  /** Completed: every default is filled in. */
  readonly config: ModelConfig
  readonly pool: InstancePool
  readonly reporter: Reporter
}
