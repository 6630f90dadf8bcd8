import type { InferRequest, InferResponse, TrafficPolicy } from '@conch/protocol'
import type { Flight, ResponseListener } from '../request.ts'

/** Who can tell a header of a request: HTTP headers, metadata of a gRPC call. Names are in lower case. */
export interface HeaderFinder {
  header(name: string): string | undefined
}

/** The versions of one model, as its policy must know them. */
export interface ModelVersions {
  isReady(version: string): boolean
  /** The highest that is ready. */
  latest(): string | undefined
  /** Inputs of a version that is ready; equal texts = the same inputs. */
  inputsOf(version: string): string
  /** Runs a request, and gives every response. */
  ask(request: InferRequest, signal: AbortSignal): Promise<readonly InferResponse[]>
}

/** What became of a model's shadow copies. */
export interface ShadowCounts {
  readonly sent: number
  readonly matched: number
  readonly different: number
  /** The shadow failed where the answer was good. */
  readonly failed: number
  /** Too many under way, or too large. */
  readonly dropped: number
}

/** One version that a policy names, as it does now. */
export interface ArmView {
  readonly version: string
  /** As the policy names it. */
  readonly name: string
  /** As written, percent. */
  readonly weight: number
  /** What it gets now, percent. */
  readonly share: number
  readonly ready: boolean
  /** Requests that were sent to it since the policy was set, and those of them that failed. */
  readonly requests: number
  readonly failures: number
  /** Of the window; undefined without a rollback. */
  readonly recent: RecentView | undefined
}

export interface RecentView {
  readonly requests: number
  readonly failures: number
  /** At the policy's percentile, milliseconds; 0 = none succeeded. */
  readonly latencyMs: number
}

export interface ShadowView extends ShadowCounts {
  readonly version: string
  readonly name: string
  /** Ready and not rolled back. */
  readonly active: boolean
  readonly inflight: number
  /** The last answer that differed, in words; '' = none did. */
  readonly example: string
}

/** A model's policy and what it does, for people: plain data. */
export interface TrafficView {
  readonly model: string
  readonly policy: TrafficPolicy
  readonly arms: readonly ArmView[]
  readonly shadow: ShadowView | undefined
  /** Sequences that are bound to their version. */
  readonly sequences: number
  /** Since the server started. */
  readonly rollbacks: number
}

/** Something happened to a policy. */
export interface TrafficEvent {
  readonly model: string
  readonly change: 'set' | 'removed' | 'rolled back'
  /** `policy`: by itself; `file`: it was read; `call`: somebody asked for it. */
  readonly by: 'policy' | 'file' | 'call'
  /** Of a rollback; '' otherwise. */
  readonly version: string
  readonly reason: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** One request that names no version, on its way to the one that was picked. */
export interface Route {
  readonly version: string
  /** It was not even taken. */
  refused(error: unknown): void
  /** Settles as the request does, which is counted. */
  follow(flight: Flight): Promise<InferResponse | undefined>
  /** The same for a stream that is still to begin. */
  stream(begin: () => Flight): Promise<void>
  /** What takes the responses of a stream. */
  listen(onResponse: ResponseListener): ResponseListener
}
