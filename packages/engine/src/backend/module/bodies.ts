import type { InferRequest, InferResponse, ModelConfig } from '@conch/protocol'
import type { Backend, BackendContext, BatchAnswers, EngineCalls, InstanceSpec } from '../contract.ts'
import type { Outcome } from '../../request.ts'
import type { SentError } from './wire.ts'

/** What the server asks its child, and what the child answers. */
export interface Opening {
  readonly name: string
  readonly directory: string
  readonly file: string
}
export interface Opened {
  readonly preferredGroup: Backend['preferredGroup']
  readonly completes: boolean
}
export type Place = Omit<BackendContext, 'log' | 'engine'>
export interface Loading {
  readonly config: ModelConfig
  readonly place: Place
}
export interface Creating {
  readonly spec: InstanceSpec
}
export interface Created {
  readonly instance: number
  readonly checksReady: boolean
}
export interface Executing {
  readonly instance: number
  readonly requests: readonly SentRequest[]
  readonly rows: number
  readonly outputs: readonly string[]
}
export interface SentRequest {
  readonly q: number
  readonly request: InferRequest
  readonly rows: number
  readonly chain: readonly string[]
}
export interface Executed {
  /** Errors among them are sent ones. */
  readonly answers: BatchAnswers
  /** Milliseconds since the batch arrived. */
  readonly inputEnd: number
  readonly outputStart: number
}

/** What the child asks: another model's answer, on behalf of request `q` when that is set. */
export interface Calling {
  readonly request: InferRequest
  readonly chain: readonly string[]
  readonly q: number | undefined
  /** Set when responses are to come one by one, as notes with this number. */
  readonly stream: number | undefined
}

/** What else it asks of the engine. */
export interface Asking {
  readonly model: string
  readonly version: string
  readonly override: Parameters<EngineCalls['load']>[1]
  readonly unloadDependents: boolean
}

/** A note of the child: what a request's own `respond`, `respondError` and `fail` were called with. */
export interface Responding {
  readonly q: number
  readonly response?: InferResponse | undefined
  readonly error?: SentError
  readonly outcome?: Outcome
  readonly final: boolean
}
/** A note of the server: one response of a call. */
export interface Streaming {
  readonly stream: number
  readonly response?: InferResponse
  readonly error?: SentError
  readonly final: boolean
}
