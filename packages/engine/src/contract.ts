import type { ConchError, InferRequest, InferResponse, ModelConfig } from '@conch/protocol'
import type { CacheSettings } from './cache/contract.ts'
import type { ResourceLimit } from './instance/contract.ts'
import type { ClientMemory } from './memory/contract.ts'
import type {
  FailureCounts,
  LatencyCounts,
  LogLevel,
  ModelStatistics,
  ProcessUsage,
  RequestHistory,
} from './observe/contract.ts'
import type { IndexEntry, LifecycleEvent } from './repository/contract.ts'
import type { RequestTrace, ResponseListener, Timings } from './request.ts'
import type { SequenceSlots } from './schedule/contract.ts'
import type { HeaderFinder, TrafficEvent, TrafficView } from './traffic/contract.ts'

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
  /** `--cache-config`: where responses are kept; undefined = nowhere. */
  readonly cache?: CacheSettings | undefined
  /** Where custom backends are looked for; undefined = nowhere. */
  readonly backendDirectory?: string | undefined
  readonly rateLimit?: 'execution_count' | 'off' | undefined
  /** `--rate-limit-resource`: units that there are; what it does not name is as much as the hungriest instance needs. */
  readonly rateLimitResources?: readonly ResourceLimit[] | undefined
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
  /** For traffic policies that go by a header. */
  readonly headers?: HeaderFinder | undefined
  /** Models whose requests wait for this one, outermost first; none = a client's own request. */
  readonly chain?: readonly string[] | undefined
  /** Takes the error responses between others (decoupled models); without it the first of them ends the request. */
  readonly onError?: ((error: ConchError) => void) | undefined
  /** Of a request that is sampled. */
  readonly trace?: RequestTrace | undefined
}

export interface LoadOverride {
  /** JSON text of the whole config, replacing config.pbtxt for this load. */
  readonly config?: string | undefined
  /** Path relative to the model directory → content. */
  readonly files?: ReadonlyMap<string, Uint8Array> | undefined
}

export interface LiveSample {
  readonly model: string
  readonly version: string
  readonly statistics: ModelStatistics
  readonly pending: number
  readonly inflight: number
  readonly failures: Readonly<FailureCounts>
  /** End-to-end latency since the version was loaded: upper bounds in µs and counts per bucket (last = above). */
  readonly latency: LatencyCounts
}

export interface InstanceState {
  readonly name: string
  /** False while its process is down: it gets no work. */
  readonly healthy: boolean
  /** Of an instance that runs in a process of its own; undefined while there is none. */
  readonly process:
    | {
        readonly pid: number
        readonly restarts: number
        /** Why the process before this one ended. */
        readonly lastExit: string | undefined
        /** Undefined where the system does not tell. */
        readonly usage: ProcessUsage | undefined
      }
    | undefined
}

export type ValueOrigin = 'file' | 'override' | 'default' | 'auto-complete'

/** One leaf of an effective config. */
export interface ConfigValue {
  /** As in `input[0].dims` or `parameters["key"].string_value`. */
  readonly path: string
  /** JSON-safe: 64-bit integers are decimal texts. */
  readonly value: unknown
  readonly origin: ValueOrigin
}

export interface ModelFile {
  /** Relative to the model's directory, `/` between parts. */
  readonly path: string
  readonly size: number
  /** Milliseconds since the epoch. */
  readonly modified: number
}

/** A model's directory, for the console. */
export interface ModelDirectory {
  /** Absolute; never to be shown to a client. */
  readonly directory: string
  /** The repository it is in, as the operator wrote it. */
  readonly repository: string
  readonly files: readonly ModelFile[]
}

/** The only door into serving. Requests and responses are plain data. */
export interface Engine {
  /** Loads the startup models. Resolves to true when every one of them is ready. */
  start(): Promise<boolean>
  /**
   * Refuses new work, waits for what is in flight, unloads. Resolves to false when the budget (exitTimeoutSeconds unless
   * given) is spent before that.
   */
  stop(budgetSeconds?: number): Promise<boolean>

  live(): boolean
  /** Models with a check of their own are asked, each for 5 s at most. */
  ready(): Promise<boolean>
  /** 'exiting' once stop() was called. */
  readonly phase: 'starting' | 'ready' | 'exiting'
  /** False for what is not there, has an instance that is down, or says so itself (5 s at most). */
  modelReady(model: string, version: string): Promise<boolean>
  metadata(model: string, version: string): ModelMetadata
  /** Normalised and auto-completed. */
  config(model: string, version: string): ModelConfig
  /** '' = every ready model and version. */
  statistics(model: string, version: string): readonly ModelStatistics[]
  /** Labels of an output (classification), or undefined. */
  labels(model: string, version: string, output: string): readonly string[] | undefined

  /** Where the time of recent requests went. */
  readonly requests: RequestHistory
  /** Memory that clients share with the server. */
  readonly memory: ClientMemory

  infer(request: InferRequest, context?: InferContext): Promise<InferResponse>
  /** Any number of responses (decoupled models, generate); resolves after the final one. */
  stream(request: InferRequest, onResponse: ResponseListener, context?: InferContext): Promise<void>

  index(readyOnly: boolean): Promise<readonly IndexEntry[]>
  load(model: string, override?: LoadOverride): Promise<void>
  /** Serves models from one more repository, whose folder `folder` holds `model`. Throws ALREADY_EXISTS for a root that is there. */
  addRepository(root: string, mapping: { folder: string; model: string }): Promise<void>
  /** Its models must have been unloaded. */
  removeRepository(root: string): void
  unload(model: string, unloadDependents: boolean): Promise<void>

  /** The version that a label stands for (superset); a label is accepted wherever a version is. */
  findLabel(model: string, label: string): string | undefined
  /** How requests without a version are spread over a model's versions; undefined = the highest ready one takes them. */
  traffic(model: string): TrafficView | undefined
  /**
   * Writes a policy (docs/traffic.md) into the model's repository and applies it; undefined removes it. Throws INVALID_ARG with
   * every problem, one a line; then nothing has changed.
   */
  setTraffic(model: string, policy: unknown): Promise<void>
  /** Takes its requests from a version, until a policy without that is set. */
  rollBackTraffic(model: string, version: string, reason: string): Promise<void>
  onTraffic(listener: (event: TrafficEvent) => void): () => void

  /** Prometheus text 0.0.4. */
  metricsText(): Promise<string>
  liveSamples(): readonly LiveSample[]
  /** The instances of a version and their processes. */
  instances(model: string, version: string): Promise<readonly InstanceState[]>
  /** Which sequence holds which slot; undefined for models without sequences. */
  slots(model: string, version: string): SequenceSlots | undefined
  /** Every leaf of the effective config and where it came from. */
  describeConfig(model: string, version: string): readonly ConfigValue[]
  /** The text of the chosen config file; undefined when there is none. Works for models that do not load. */
  configText(model: string): Promise<string | undefined>
  /** Where a model lives and what is in there; undefined when no repository holds it. */
  directory(model: string): Promise<ModelDirectory | undefined>
  onLifecycle(listener: (event: LifecycleEvent) => void): () => void
}
