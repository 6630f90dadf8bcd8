import {
  decodeMessage,
  encodeInferRequest,
  encodeMessage,
  parseInferResponse,
  type EncodedMessage,
  type ModelConfig,
} from '@conch/protocol'
import type { CallOptions, RpcOptions } from '../call-options.ts'
import type {
  CudaRegion,
  CudaRegionPlace,
  IndexEntry,
  InferenceClient,
  LoadOptions,
  LogSettings,
  ModelMetadata,
  ModelOptions,
  ModelStatistics,
  ServerMetadata,
  SystemRegion,
  SystemRegionPlace,
  TraceChange,
  TraceSettings,
} from '../contract.ts'
import { ClientError, toClientError } from '../error.ts'
import { toRequest, type InferCall } from '../infer-call.ts'
import { InferResult } from '../infer-result.ts'
import { Channel, type ChannelOptions } from './channel.ts'
import { InferStream } from './infer-stream.ts'
import { Rpc } from './rpc.ts'
import { encodeLogSettings, encodeTraceSettings, readLogSettings, readTraceSettings } from './settings.ts'

export interface GrpcOptions extends ChannelOptions {
  /** Metadata of every call. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Larger answers are refused; default 2 GiB. */
  readonly maxMessageBytes?: number | undefined
}

const SERVICE = '/inference.GRPCInferenceService/'

/** Speaks KServe v2 over gRPC. Calls share one connection. */
export class GrpcClient implements InferenceClient {
  readonly #channel: Channel
  readonly #headers: Readonly<Record<string, string>> | undefined
  readonly #limit: number

  /** `address` as in `127.0.0.1:8001`. */
  constructor(address: string, options: GrpcOptions = {}) {
    this.#channel = new Channel(address, options)
    this.#headers = options.headers
    this.#limit = options.maxMessageBytes ?? 2 ** 31 - 1
  }

  infer(model: string, call: InferCall, options: RpcOptions = {}): Promise<InferResult> {
    return this.#attempt(() => this.#infer(this.prepare(model, call), options))
  }

  /** Encodes a request without sending it. */
  prepare(model: string, call: InferCall): EncodedMessage {
    return encodeInferRequest(toRequest(model, call))
  }

  inferPrepared(prepared: EncodedMessage, options: RpcOptions = {}): Promise<InferResult> {
    return this.#attempt(() => this.#infer(prepared, options))
  }

  async #infer(prepared: EncodedMessage, options: RpcOptions): Promise<InferResult> {
    const answer = await this.#unary(`${SERVICE}ModelInfer`, prepared, options)
    return new InferResult(parseInferResponse(answer))
  }

  /** Any number of requests and answers; see `stream` for one request with many answers. */
  openStream(options: RpcOptions = {}): InferStream {
    return new InferStream(this.#channel, this.#withHeaders(options), this.#limit)
  }

  /** One request with any number of answers. Leaving the loop early cancels. */
  async *stream(model: string, call: InferCall, options: RpcOptions = {}): AsyncGenerator<InferResult, void> {
    const stream = this.openStream(options)
    await stream.send(model, call, { wantEnd: true })
    stream.end()
    for await (const { result, error } of stream) {
      if (error !== undefined) throw error
      if (result !== undefined) yield result
    }
  }

  async isLive(options?: CallOptions): Promise<boolean> {
    return this.#isTrue('ServerLive', 'live', options)
  }

  async isReady(options?: CallOptions): Promise<boolean> {
    return this.#isTrue('ServerReady', 'ready', options)
  }

  async isModelReady(model: string, options: ModelOptions = {}): Promise<boolean> {
    const { ready } = await this.#call<{ ready: boolean }>('ModelReady', target(model, options), options)
    return ready
  }

  serverMetadata(options?: CallOptions): Promise<ServerMetadata> {
    return this.#call('ServerMetadata', {}, options)
  }

  modelMetadata(model: string, options: ModelOptions = {}): Promise<ModelMetadata> {
    return this.#call('ModelMetadata', target(model, options), options)
  }

  async modelConfig(model: string, options: ModelOptions = {}): Promise<ModelConfig> {
    const { config } = await this.#call<{ config?: ModelConfig }>('ModelConfig', target(model, options), options)
    if (config !== undefined) return config
    throw new ClientError('INTERNAL', 'the server answered without a configuration')
  }

  async statistics(model: string, options: ModelOptions = {}): Promise<readonly ModelStatistics[]> {
    const answer = await this.#call<{ model_stats: readonly ModelStatistics[] }>(
      'ModelStatistics',
      target(model, options),
      options,
    )
    return answer.model_stats
  }

  async repositoryIndex(options: CallOptions & { readonly readyOnly?: boolean } = {}): Promise<readonly IndexEntry[]> {
    const request = { ready: options.readyOnly === true }
    return (await this.#call<{ models: readonly IndexEntry[] }>('RepositoryIndex', request, options)).models
  }

  async loadModel(model: string, options: LoadOptions = {}): Promise<void> {
    const { config, files = {} } = options
    const parameters: Record<string, object> = config === undefined ? {} : { config: { string_param: config } }
    for (const [path, bytes] of Object.entries(files)) parameters[`file:${path}`] = { bytes_param: bytes }
    await this.#call('RepositoryModelLoad', { model_name: model, parameters }, options)
  }

  async unloadModel(model: string, options: CallOptions & { readonly dependents?: boolean } = {}): Promise<void> {
    const parameters = { unload_dependents: { bool_param: options.dependents === true } }
    await this.#call('RepositoryModelUnload', { model_name: model, parameters }, options)
  }

  async registerSystemRegion(name: string, place: SystemRegionPlace, options?: CallOptions): Promise<void> {
    const { key, offset, byteSize } = place
    await this.#call('SystemSharedMemoryRegister', { name, key, offset, byte_size: byteSize }, options)
  }

  async unregisterSystemRegion(name: string, options?: CallOptions): Promise<void> {
    await this.#call('SystemSharedMemoryUnregister', { name }, options)
  }

  async systemRegions(name = '', options?: CallOptions): Promise<readonly SystemRegion[]> {
    const answer = await this.#call<{ regions: Record<string, SystemRegion> }>(
      'SystemSharedMemoryStatus',
      { name },
      options,
    )
    return Object.values(answer.regions)
  }

  async registerCudaRegion(name: string, place: CudaRegionPlace, options?: CallOptions): Promise<void> {
    const { rawHandle, deviceId, byteSize } = place
    const request = { name, raw_handle: rawHandle, device_id: deviceId, byte_size: byteSize }
    await this.#call('CudaSharedMemoryRegister', request, options)
  }

  async unregisterCudaRegion(name: string, options?: CallOptions): Promise<void> {
    await this.#call('CudaSharedMemoryUnregister', { name }, options)
  }

  async cudaRegions(name = '', options?: CallOptions): Promise<readonly CudaRegion[]> {
    const answer = await this.#call<{ regions: Record<string, CudaRegion> }>(
      'CudaSharedMemoryStatus',
      { name },
      options,
    )
    return Object.values(answer.regions)
  }

  async traceSettings(model: string, change: TraceChange = {}, options?: CallOptions): Promise<TraceSettings> {
    return readTraceSettings(await this.#call('TraceSetting', encodeTraceSettings(model, change), options))
  }

  async logSettings(change: LogSettings = {}, options?: CallOptions): Promise<LogSettings> {
    return readLogSettings(await this.#call('LogSettings', encodeLogSettings(change), options))
  }

  close(): void {
    this.#channel.close()
  }

  /** A server that is going away says so with a status; that is a no. */
  async #isTrue(method: string, member: string, options?: CallOptions): Promise<boolean> {
    try {
      return (await this.#call<Record<string, boolean>>(method, {}, options))[member] === true
    } catch (error) {
      if (error instanceof ClientError && error.status === 14) return false
      throw error
    }
  }

  /** A method whose messages are read by their tables. */
  #call<T>(method: string, request: object, options: CallOptions = {}): Promise<T> {
    return this.#attempt(async () => {
      const bytes = encodeMessage(`${method}Request`, request)
      const answer = await this.#unary(SERVICE + method, { parts: [bytes], size: bytes.length }, options)
      return decodeMessage(`${method}Response`, answer) as T
    })
  }

  #unary(method: string, message: EncodedMessage, options: RpcOptions): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      let answer: Uint8Array | undefined
      const call = { method, options: this.#withHeaders(options), limit: this.#limit }
      const rpc = new Rpc(this.#channel, call, {
        message: (bytes) => (answer = bytes),
        ended(error) {
          if (error !== undefined) reject(error)
          else if (answer !== undefined) resolve(answer)
          else reject(new ClientError('INTERNAL', 'the server answered without a message'))
        },
      })
      rpc.send(message, true)
    })
  }

  #withHeaders<T extends RpcOptions>(options: T): T {
    return this.#headers === undefined ? options : { ...options, headers: { ...this.#headers, ...options.headers } }
  }

  async #attempt<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act()
    } catch (error) {
      throw toClientError(error)
    }
  }
}

function target(name: string, { version = '' }: ModelOptions): object {
  return { name, version }
}
