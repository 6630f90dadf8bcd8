import type { InferRequest, InferResponse, ModelConfig } from '@conch/protocol'
import type { InstancePool } from '../instance/contract.ts'
import type { Log, Reporter } from '../observe/contract.ts'
import type { ActiveRequest, RequestTrace, ResponseListener, Timings } from '../request.ts'

/** Who runs next, and with whom. One per loaded model version. */
export interface Scheduler {
  /** Takes responsibility for the request: it will be answered or failed, once. Throws when it refuses. */
  enqueue(request: ActiveRequest): void
  /** Answers a request that needs no execution in its turn; absent: its turn is now. */
  answer?(request: ActiveRequest, response: InferResponse): void
  /** Requests taken and not yet answered. */
  readonly inflight: number
  /** Requests waiting for an instance. */
  readonly pending: number
  /** Refuses new requests and resolves when none is in flight. */
  stop(): Promise<void>
  /** Whether it takes this request also while its version drains: what has begun must be able to end. */
  continues?(request: ActiveRequest): boolean
  /** Those that requests can join; absent for models without sequences. */
  readonly sequences?: OpenSequences
  /** Who holds which slot; absent for models without sequences. */
  inspectSlots?(): SequenceSlots
}

/** Sequences that have begun and not ended. */
export interface OpenSequences {
  readonly size: number
  has(id: bigint | string): boolean
  /** Resolves when there is none, or `forgo` was called. */
  ended(): Promise<void>
  /** Nobody waits for their ends any more. */
  forgo(): void
}

/** What a sequence batcher is doing, for people: plain data. Times are milliseconds. */
export interface SequenceSlots {
  readonly strategy: 'direct' | 'oldest'
  readonly maxIdle: number
  /** Of each instance. */
  readonly slotsPerInstance: number
  /** Slots that were never held are not listed. */
  readonly instances: readonly { readonly name: string; readonly busy: boolean; readonly slots: readonly SlotView[] }[]
  /** Sequences that wait for a slot, the next one first; at most 100 of them. */
  readonly backlog: readonly Omit<SlotView, 'index' | 'running'>[]
  readonly backlogSize: number
}

export interface SlotView {
  readonly index: number
  /** Undefined = the slot is free. */
  readonly sequence: string | undefined
  readonly waiting: number
  readonly running: boolean
  readonly served: number
  /** Since its last request arrived. */
  readonly idle: number
  readonly stateBytes: number
}

/** A model version that is a step of an ensemble. */
export interface StepTarget {
  readonly config: ModelConfig
  /** Keeps it serving steps until `release`, also while it is unloaded or replaced. */
  hold(): void
  release(): void
  /** Resolves to its response; to undefined when `onResponse` took what there was. */
  run(request: InferRequest, context: StepContext): Promise<InferResponse | undefined>
}

export interface StepContext {
  readonly signal: AbortSignal | undefined
  readonly timings: Timings
  /** Who waits for the step, the ensemble last. */
  readonly chain: readonly string[]
  readonly trace: RequestTrace | undefined
  /** Takes every response of a decoupled model. */
  readonly onResponse: ResponseListener | undefined
}

/** What a scheduler works with. */
export interface ScheduleParts {
  readonly model: string
  readonly version: string
  /** Completed: every default is filled in. */
  readonly config: ModelConfig
  readonly pool: InstancePool
  readonly reporter: Reporter
  readonly log?: Log | undefined
  /** Sequence states that begin with a file: its name → its bytes. */
  readonly initialStates?: ReadonlyMap<string, Uint8Array> | undefined
  /** For ensembles: the version that runs a step, for an open sequence the one that holds it. Throws when there is none. */
  readonly findStep: (model: string, version: string, sequence?: bigint | string) => StepTarget
}
