import type { ConchError, InferRequest, InferResponse, ModelConfig, Parameters, Tensor } from '@conch/protocol'
import type { ActiveRequest, RequestTrace, ResponseListener } from '../request.ts'

/** Where a version lives and how it was asked to run. */
export interface BackendContext {
  /** The model's directory and the version's directory below it; absolute, already contained in a repository. */
  readonly modelDirectory: string
  readonly versionDirectory: string
  /** Files that a config names must not lie outside of it, links followed; absent = the model's directory. */
  readonly root?: string
  readonly version: string
  /** `--backend-config` settings for this backend, global ones merged in (the backend's own win). */
  readonly settings: Readonly<Record<string, string>>
  readonly log: (level: 'verbose' | 'info' | 'warning' | 'error', text: string) => void
  readonly engine: EngineCalls
}

/** What a model may ask of the engine that serves it. */
export interface EngineCalls {
  /** Business logic scripting: runs a request on any model. Resolves to undefined when `onResponse` took the answers. */
  infer(request: InferRequest, call: NestedCall): Promise<InferResponse | undefined>
  load(model: string, override: { config?: string; files?: ReadonlyMap<string, Uint8Array> }): Promise<void>
  unload(model: string, unloadDependents: boolean): Promise<void>
  /** False for what is not there; a model with a check of its own is asked. */
  isReady(model: string, version: string): Promise<boolean>
  /** Throws the original's texts, also for a name that is taken by another kind. The same name and kind: the same family. */
  createFamily(kind: CustomKind, name: string, description: string): CustomFamily
}

export interface NestedCall {
  readonly signal: AbortSignal | undefined
  /** Who waits for whom, from the client's own model to the caller; bounded, and checked for circles that never end. */
  readonly chain: readonly string[]
  /** Given when the caller wants the call to be part of its own trace. */
  readonly trace?: RequestTrace | undefined
  /** Takes every response of a decoupled model; without it exactly one is expected. */
  readonly onResponse: ResponseListener | undefined
  /** Takes the error responses between others; without it the first of them ends the request. */
  readonly onError?: ((error: ConchError) => void) | undefined
}

export type CustomKind = 'counter' | 'gauge' | 'histogram'

/** A model's own metrics, exposed beside the server's until closed. */
export interface CustomFamily {
  /** The same labels: the same series, counted by reference. `buckets`: upper bounds, for histograms only. */
  createSeries(labels: Readonly<Record<string, string>>, buckets: readonly number[] | undefined): CustomSeries
  close(): void
}
/** Methods throw ConchError with the original's texts for what the kind does not support. */
export interface CustomSeries {
  increment(by: number): void
  set(value: number): void
  observe(value: number): void
  value(): number
  close(): void
}

/** One runtime. Loaded lazily; a missing native library fails the models that ask for it, never the server. */
export interface Backend {
  readonly name: string
  /** Instance groups of a config that names none: kind and count. */
  readonly preferredGroup: { readonly kind: 'KIND_CPU' | 'KIND_GPU' | 'KIND_MODEL'; readonly count: number }
  /** Returns the config with what the model's files say filled in (auto-complete). Never called when that is disabled. */
  complete(config: ModelConfig, context: BackendContext): Promise<ModelConfig>
  /** Checks the files against the config and loads what instances share. Throws ConchError with the original's texts. */
  load(config: ModelConfig, context: BackendContext): Promise<BackendModel>
}

export interface BackendModel {
  createInstance(spec: InstanceSpec): Promise<BackendInstance>
  /** Releases everything; called after every instance is closed. */
  close(): Promise<void>
}

export interface InstanceSpec {
  /** `<group>_<i>`, as the original names it. */
  readonly name: string
  readonly kind: 'KIND_CPU' | 'KIND_GPU' | 'KIND_MODEL'
  readonly deviceId: number
  readonly profiles: readonly string[]
}

/** Requests that run together. The backend stamps `computeInputEnd` and `computeOutputStart`. */
export interface Batch {
  readonly requests: readonly ActiveRequest[]
  /** Sum of the rows of all requests. */
  readonly rows: number
  /** Names that at least one request wants; the backend may compute others and drop them. */
  readonly outputs: ReadonlySet<string>
  computeInputEnd: number
  computeOutputStart: number
  /** Aborted when nobody waits for the batch any more: a running call is then terminated. */
  readonly signal: AbortSignal | undefined
}

/** One request's part of a batch: its outputs, or why it failed. Tensors may be views on the batch's output. */
export type BatchAnswer =
  | {
      readonly outputs: readonly Tensor[]
      /** What the response carries besides its tensors. */
      readonly parameters?: Parameters
    }
  | { readonly error: unknown }
  /** Answered, now or later, through `ActiveRequest.respond`. */
  | 'responded'
  /** To be run again (iterative sequences). */
  | 'again'

export interface BackendInstance {
  /**
   * Runs one batch; one answer per request, in order. A model that takes microseconds answers at once (no promise): the
   * hop costs more than the call. Rejects or throws only when the whole batch failed.
   * A backend whose models are decoupled answers through `ActiveRequest.respond` and `respondError` and returns
   * 'responded': the instance is free then, whatever of its requests is still open. `close` waits for those.
   */
  execute(batch: Batch): BatchAnswers | Promise<BatchAnswers>
  close(): Promise<void>
  /** False while its process is down; the version is not ready then, and the instance is given no work. */
  readonly healthy?: boolean
  /** Called when `healthy` changed. */
  onHealth?: ((healthy: boolean) => void) | undefined
  /** The model's own check; absent = none. Rejects with the reason. */
  checkReady?(): Promise<void>
  /** Its own process, for metrics and the console; undefined while there is none. */
  readonly process?:
    { readonly pid: number; readonly restarts: number; readonly lastExit: string | undefined } | undefined
}
export type BatchAnswers = readonly BatchAnswer[] | 'responded'
