import type { InferRequest, InferResponse, ModelConfig } from '@conch/protocol'
import type { LogLevel, ModelStatistics } from './observe/contract.ts'
import type { IndexEntry } from './repository/contract.ts'
import type { Timings } from './request.ts'

export interface EngineOptions {
  readonly repositories: readonly string[]
  readonly controlMode: 'none' | 'poll' | 'explicit'
  /** Models loaded at start in explicit mode; `['*']` = all. */
  readonly startupModels: readonly string[]
  readonly pollSeconds: number
  readonly strictReadiness: boolean
  readonly autoComplete: boolean
  readonly modelConfigName: string
  readonly loadThreads: number
  readonly loadRetries: number
  readonly namespacing: boolean
  readonly exitTimeoutSeconds: number
  /** `--backend-config`: backend ('' = global) → setting → value. */
  readonly backendConfig: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly metrics: {
    readonly enabled: boolean
    readonly cpu: boolean
    readonly gpu: boolean
    readonly intervalMs: number
    /** `--metrics-config` settings. */
    readonly config: Readonly<Record<string, string>>
  }
  readonly log: { write(level: LogLevel, text: string): void; readonly verbose: number }
}

export interface TensorMetadata {
  readonly name: string
  readonly datatype: string
  readonly shape: readonly number[]
}
export interface ModelMetadata {
  readonly name: string
  readonly versions: readonly string[]
  readonly platform: string
  readonly inputs: readonly TensorMetadata[]
  readonly outputs: readonly TensorMetadata[]
}

/** Extras of one request: what a face may pass and watch. */
export interface InferContext {
  readonly signal?: AbortSignal | undefined
  /** Filled while the request runs; the console's timing bar and traces read it. */
  readonly timings?: Timings | undefined
}

export interface LoadOverride {
  /** JSON text of the whole config, replacing config.pbtxt for this load. */
  readonly config?: string | undefined
  /** Path relative to the model directory → content. */
  readonly files?: ReadonlyMap<string, Uint8Array> | undefined
}

/** Something happened to a model version; the console's list and its log follow these. */
export interface LifecycleEvent {
  readonly model: string
  readonly version: string
  readonly state: string
  readonly reason: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

export interface LiveSample {
  readonly model: string
  readonly version: string
  readonly statistics: ModelStatistics
  readonly pending: number
  readonly inflight: number
  readonly failures: Readonly<Record<'REJECTED' | 'CANCELED' | 'BACKEND' | 'OTHER', number>>
  /** Cumulative end-to-end latency histogram: upper bounds in µs and counts per bucket (last = above). */
  readonly latency: { readonly bounds: readonly number[]; readonly counts: readonly number[] }
}

/** The only door into serving. Requests and responses are plain data. */
export interface Engine {
  /** Loads the startup models. Resolves to true when every one of them is ready. */
  start(): Promise<boolean>
  /** Refuses new work, waits for what is in flight (within exitTimeoutSeconds), unloads. Resolves to false on timeout. */
  stop(): Promise<boolean>

  live(): boolean
  ready(): boolean
  /** 'exiting' once stop() was called. */
  readonly phase: 'starting' | 'ready' | 'exiting'
  modelReady(model: string, version: string): boolean
  metadata(model: string, version: string): ModelMetadata
  /** Normalised and auto-completed. */
  config(model: string, version: string): ModelConfig
  /** '' = every ready model and version. */
  statistics(model: string, version: string): readonly ModelStatistics[]
  /** Labels of an output (classification), or undefined. */
  labels(model: string, version: string, output: string): readonly string[] | undefined

  infer(request: InferRequest, context?: InferContext): Promise<InferResponse>
  /** Any number of responses (decoupled models, generate); resolves after the final one. */
  stream(request: InferRequest, onResponse: (response: InferResponse) => void, context?: InferContext): Promise<void>

  index(readyOnly: boolean): Promise<readonly IndexEntry[]>
  load(model: string, override?: LoadOverride): Promise<void>
  unload(model: string, unloadDependents: boolean): Promise<void>

  /** Prometheus text 0.0.4. */
  metricsText(): Promise<string>
  liveSamples(): readonly LiveSample[]
  onLifecycle(listener: (event: LifecycleEvent) => void): () => void
}
