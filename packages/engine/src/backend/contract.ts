import type { ModelConfig, Parameters, Tensor } from '@conch/protocol'
import type { ActiveRequest } from '../request.ts'

/** Where a version lives and how it was asked to run. */
export interface BackendContext {
  /** The model's directory and the version's directory below it; absolute, already contained in a repository. */
  readonly modelDirectory: string
  readonly versionDirectory: string
  readonly version: string
  /** `--backend-config` settings for this backend, global ones merged in (the backend's own win). */
  readonly settings: Readonly<Record<string, string>>
  readonly log: (level: 'verbose' | 'info' | 'warning' | 'error', text: string) => void
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

export interface BackendInstance {
  /**
   * Runs one batch; one answer per request, in order. A model that takes microseconds answers at once (no promise): the
   * hop costs more than the call. Rejects or throws only when the whole batch failed.
   * A backend whose models are decoupled answers through `ActiveRequest.respond` and returns 'responded'.
   */
  execute(batch: Batch): BatchAnswers | Promise<BatchAnswers>
  close(): Promise<void>
}
export type BatchAnswers = readonly BatchAnswer[] | 'responded'
