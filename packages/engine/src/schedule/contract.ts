import type { InferRequest, InferResponse, ModelConfig } from '@conch/protocol'
import type { InstancePool } from '../instance/contract.ts'
import type { Reporter } from '../observe/contract.ts'
import type { ActiveRequest, Timings } from '../request.ts'

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

/** A model version that is a step of an ensemble. */
export interface StepTarget {
  readonly config: ModelConfig
  /** Keeps it serving steps until `release`, also while it is unloaded or replaced. */
  hold(): void
  release(): void
  run(request: InferRequest, context: StepContext): Promise<InferResponse>
}

export interface StepContext {
  readonly signal: AbortSignal | undefined
  readonly timings: Timings
  /** Who waits for the step, the ensemble last. */
  readonly chain: readonly string[]
}

/** What a scheduler works with. */
export interface ScheduleParts {
  readonly model: string
  readonly version: string
  /** Completed: every default is filled in. */
  readonly config: ModelConfig
  readonly pool: InstancePool
  readonly reporter: Reporter
  /** For ensembles: the version that runs a step. Throws when there is none. */
  readonly findStep: (model: string, version: string) => StepTarget
}
