import type { ModelConfig } from '@conch/protocol'
import type { CallOptions } from './call-options.ts'
import type { InferCall } from './infer-call.ts'
import type { InferResult } from './infer-result.ts'

/** What a server says of itself and its models; members are spelt as on the wire. 64-bit counters are bigint. */
export interface ServerMetadata {
  readonly name: string
  readonly version: string
  readonly extensions: readonly string[]
}
export interface TensorMetadata {
  readonly name: string
  readonly datatype: string
  /** -1 = any size. */
  readonly shape: readonly number[]
}
export interface ModelMetadata {
  readonly name: string
  readonly versions: readonly string[]
  readonly platform: string
  readonly inputs: readonly TensorMetadata[]
  readonly outputs: readonly TensorMetadata[]
}
export interface IndexEntry {
  readonly name: string
  readonly version: string
  readonly state: string
  readonly reason: string
}
export interface StatisticDuration {
  readonly count: bigint
  readonly ns: bigint
}
type Durations<K extends string> = Readonly<Record<K, StatisticDuration>>
export interface ModelStatistics {
  readonly name: string
  readonly version: string
  /** Milliseconds since the epoch. */
  readonly last_inference: bigint
  readonly inference_count: bigint
  readonly execution_count: bigint
  readonly inference_stats: Durations<
    'success' | 'fail' | 'queue' | 'compute_input' | 'compute_infer' | 'compute_output' | 'cache_hit' | 'cache_miss'
  >
  readonly batch_stats: readonly ({ readonly batch_size: bigint } & Durations<
    'compute_input' | 'compute_infer' | 'compute_output'
  >)[]
  readonly memory_usage: readonly { readonly type: string; readonly id: number; readonly byte_size: bigint }[]
  /** By the response's index within its request. */
  readonly response_stats: Readonly<
    Record<
      string,
      Partial<Durations<'compute_infer' | 'compute_output' | 'success' | 'fail' | 'empty_response' | 'cancel'>>
    >
  >
}
export interface SystemRegion {
  readonly name: string
  /** Of the shared memory object. */
  readonly key: string
  readonly offset: bigint
  readonly byte_size: bigint
}
export interface CudaRegion {
  readonly name: string
  readonly device_id: bigint
  readonly byte_size: bigint
}
export type TraceSettings = Readonly<Record<string, readonly string[]>>
/** null = as the server's command line has it. */
export type TraceChange = Readonly<Record<string, string | readonly string[] | null>>
export type LogSettings = Readonly<Record<string, boolean | number | string>>

export interface ModelOptions extends CallOptions {
  /** Left out = the newest. */
  readonly version?: string | undefined
}
export interface LoadOptions extends CallOptions {
  /** A model configuration as JSON text, instead of the one in the repository. */
  readonly config?: string | undefined
  /** Files of the model instead of those in the repository, as in `1/model.onnx`. Needs `config`. */
  readonly files?: Readonly<Record<string, Uint8Array>> | undefined
}
export interface SystemRegionPlace {
  readonly key: string
  readonly byteSize: number
  readonly offset?: number | undefined
}
export interface CudaRegionPlace {
  /** The 64 bytes of a cudaIpcMemHandle_t. */
  readonly rawHandle: Uint8Array
  readonly deviceId: number
  readonly byteSize: number
}

/** What both clients can do. Every call that does not succeed rejects with a ClientError. */
export interface InferenceClient {
  infer(model: string, call: InferCall, options?: CallOptions): Promise<InferResult>

  isLive(options?: CallOptions): Promise<boolean>
  isReady(options?: CallOptions): Promise<boolean>
  isModelReady(model: string, options?: ModelOptions): Promise<boolean>
  serverMetadata(options?: CallOptions): Promise<ServerMetadata>
  modelMetadata(model: string, options?: ModelOptions): Promise<ModelMetadata>
  modelConfig(model: string, options?: ModelOptions): Promise<ModelConfig>
  /** Of one model, or of all with ''. */
  statistics(model: string, options?: ModelOptions): Promise<readonly ModelStatistics[]>

  repositoryIndex(options?: CallOptions & { readonly readyOnly?: boolean }): Promise<readonly IndexEntry[]>
  loadModel(model: string, options?: LoadOptions): Promise<void>
  unloadModel(model: string, options?: CallOptions & { readonly dependents?: boolean }): Promise<void>

  registerSystemRegion(name: string, place: SystemRegionPlace, options?: CallOptions): Promise<void>
  /** '' = all of them. */
  unregisterSystemRegion(name: string, options?: CallOptions): Promise<void>
  systemRegions(name?: string, options?: CallOptions): Promise<readonly SystemRegion[]>
  registerCudaRegion(name: string, place: CudaRegionPlace, options?: CallOptions): Promise<void>
  unregisterCudaRegion(name: string, options?: CallOptions): Promise<void>
  cudaRegions(name?: string, options?: CallOptions): Promise<readonly CudaRegion[]>

  /** Of the server with '', or of one model. Without a change it only reads. */
  traceSettings(model: string, change?: TraceChange, options?: CallOptions): Promise<TraceSettings>
  logSettings(change?: LogSettings, options?: CallOptions): Promise<LogSettings>

  /** Gives up what is still running and closes the connections. */
  close(): void
}
