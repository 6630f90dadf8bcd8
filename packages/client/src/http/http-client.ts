import { encodeRequestBody, parseConfigJson, ResponseReader, type ModelConfig } from '@conch/protocol'
import { callSignal, type CallOptions, type Compression } from '../call-options.ts'
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
import { toClientError } from '../error.ts'
import { toRequest, type InferCall } from '../infer-call.ts'
import { InferResult } from '../infer-result.ts'
import { checkAnswer, readList, readLogSettings, readMessage, readText, readTrace, refuse } from './answers.ts'
import { compressBody } from './compress.ts'
import { FetchTransport } from './fetch-transport.ts'
import { readEvents, readFields, type Fields } from './generate.ts'
import { describeCudaRegion, describeLoad, describeSystemRegion, json } from './bodies.ts'
import { inferPath, modelPath, regionPath } from './paths.ts'
import { type HttpAnswer, type HttpTransport } from './transport.ts'

export interface HttpOptions {
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Left out = fetch. Under Node `openHttp` of `@conch/client/node` has a cheaper one. */
  readonly transport?: HttpTransport | undefined
  /** Larger answers are refused; default 2 GiB. */
  readonly maxAnswerBytes?: number | undefined
}
export interface HttpInferOptions extends CallOptions {
  /** 'json' sends and asks for text instead of bytes: readable on the way, several times slower, and without FP16 and BF16. */
  readonly format?: 'binary' | 'json' | undefined
  readonly requestCompression?: Compression | undefined
  readonly responseCompression?: Compression | undefined
}
/** A request that is encoded already, to be sent any number of times. */
export interface PreparedInfer {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: readonly Uint8Array[]
}

export const MAX_ANSWER_BYTES = 2 ** 31 - 1

/** Speaks KServe v2 over HTTP. */
export class HttpClient implements InferenceClient {
  readonly #base: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #transport: HttpTransport
  readonly #reader = new ResponseReader()
  #known: { headerLength: number; headers: PreparedInfer['headers'] } = { headerLength: -1, headers: {} }

  /** `url` as in `http://127.0.0.1:8000`; a path in it is put before every path. */
  constructor(url: string | URL, options: HttpOptions = {}) {
    const { origin, pathname } = new URL(url)
    this.#base = pathname.replace(/\/+$/, '')
    this.#headers = options.headers ?? {}
    this.#transport = options.transport ?? new FetchTransport(origin, options.maxAnswerBytes ?? MAX_ANSWER_BYTES)
  }

  infer(model: string, call: InferCall, options: HttpInferOptions = {}): Promise<InferResult> {
    return this.#attempt(options, (signal) => this.#infer(this.prepare(model, call, options), options, signal))
  }

  /** Encodes a request without sending it. */
  prepare(model: string, call: InferCall, { format = 'binary' }: HttpInferOptions = {}): PreparedInfer {
    const binary = format === 'binary'
    const { json: head, parts, headerLength } = encodeRequestBody(toRequest(model, call, binary), binary)
    const path = this.#base + inferPath(model, call.version)
    return { path, headers: this.#inferHeaders(headerLength), body: [head, ...parts] }
  }

  inferPrepared(prepared: PreparedInfer, options: HttpInferOptions = {}): Promise<InferResult> {
    return this.#attempt(options, (signal) => this.#infer(prepared, options, signal))
  }

  /** The same object for the same headers: transports may then write them once. */
  #inferHeaders(headerLength: number | undefined): PreparedInfer['headers'] {
    if (headerLength === undefined) return { ...this.#headers, ...JSON_TYPE }
    if (this.#known.headerLength !== headerLength) {
      const length = String(headerLength)
      const headers = { ...this.#headers, ...BINARY_TYPE, 'inference-header-content-length': length }
      this.#known = { headerLength, headers }
    }
    return this.#known.headers
  }

  async #infer(
    prepared: PreparedInfer,
    options: HttpInferOptions,
    signal: AbortSignal | undefined,
  ): Promise<InferResult> {
    const { requestCompression: compression, responseCompression, headers } = options
    const body = compression === undefined ? prepared.body : await compressBody(prepared.body, compression)
    const isPlain = compression === undefined && responseCompression === undefined && headers === undefined
    const answer = await this.#transport.send({
      method: 'POST',
      path: prepared.path,
      headers: isPlain ? prepared.headers : addHeaders(prepared.headers, options),
      body,
      signal,
    })
    if (answer.status !== 200) refuse(answer)
    const length = answer.header('inference-header-content-length')
    return new InferResult(this.#reader.parse(answer.body, length === undefined ? undefined : Number(length)))
  }

  /** The generate extension: one answer, its outputs and parameters by name. Integers beyond 2^53 are bigint. */
  generate(model: string, fields: Fields, options: ModelOptions = {}): Promise<Fields> {
    return this.#attempt(options, async (signal) => {
      const path = `${modelPath(model, options.version)}/generate`
      return readFields(checkAnswer(await this.#send(path, json(fields), { ...options, signal })))
    })
  }

  /** The same for models with any number of answers, which come as they are made. Ending the iteration early cancels. */
  async *generateStream(model: string, fields: Fields, options: ModelOptions = {}): AsyncGenerator<Fields, void> {
    const signal = callSignal(options)
    try {
      const stream = await this.#transport.open({
        method: 'POST',
        path: `${this.#base}${modelPath(model, options.version)}/generate_stream`,
        headers: { ...this.#headers, ...JSON_TYPE, accept: 'text/event-stream', ...options.headers },
        body: [json(fields)],
        signal,
      })
      yield* readEvents(stream)
    } catch (error) {
      throw toClientError(error, signal)
    }
  }

  isLive(options?: CallOptions): Promise<boolean> {
    return this.#isOk('/v2/health/live', options)
  }

  isReady(options?: CallOptions): Promise<boolean> {
    return this.#isOk('/v2/health/ready', options)
  }

  isModelReady(model: string, options: ModelOptions = {}): Promise<boolean> {
    return this.#isOk(`${modelPath(model, options.version)}/ready`, options)
  }

  async serverMetadata(options?: CallOptions): Promise<ServerMetadata> {
    return readMessage('ServerMetadataResponse', await this.#call('/v2', undefined, options))
  }

  async modelMetadata(model: string, options: ModelOptions = {}): Promise<ModelMetadata> {
    return readMessage('ModelMetadataResponse', await this.#call(modelPath(model, options.version), undefined, options))
  }

  async modelConfig(model: string, options: ModelOptions = {}): Promise<ModelConfig> {
    const body = await this.#call(`${modelPath(model, options.version)}/config`, undefined, options)
    return parseConfigJson(readText(body)).config
  }

  async statistics(model: string, options: ModelOptions = {}): Promise<readonly ModelStatistics[]> {
    const path = model === '' ? '/v2/models' : modelPath(model, options.version)
    const { model_stats: rows } = readMessage<{ model_stats: readonly ModelStatistics[] }>(
      'ModelStatisticsResponse',
      await this.#call(`${path}/stats`, undefined, options),
    )
    return rows
  }

  async repositoryIndex(options: CallOptions & { readonly readyOnly?: boolean } = {}): Promise<readonly IndexEntry[]> {
    const body = options.readyOnly === true ? json({ ready: true }) : EMPTY
    return readList('RepositoryIndexResponse.ModelIndex', await this.#call('/v2/repository/index', body, options))
  }

  async loadModel(model: string, options: LoadOptions = {}): Promise<void> {
    await this.#call(`/v2/repository${modelPath(model, undefined, '')}/load`, json(describeLoad(options)), options)
  }

  async unloadModel(model: string, options: CallOptions & { readonly dependents?: boolean } = {}): Promise<void> {
    const body = json({ parameters: { unload_dependents: options.dependents === true } })
    await this.#call(`/v2/repository${modelPath(model, undefined, '')}/unload`, body, options)
  }

  async registerSystemRegion(name: string, place: SystemRegionPlace, options?: CallOptions): Promise<void> {
    await this.#call(`${regionPath('system', name)}/register`, json(describeSystemRegion(place)), options)
  }

  async unregisterSystemRegion(name: string, options?: CallOptions): Promise<void> {
    await this.#call(`${regionPath('system', name)}/unregister`, EMPTY, options)
  }

  async systemRegions(name = '', options?: CallOptions): Promise<readonly SystemRegion[]> {
    const body = await this.#call(`${regionPath('system', name)}/status`, undefined, options)
    return readList('SystemSharedMemoryStatusResponse.RegionStatus', body)
  }

  async registerCudaRegion(name: string, place: CudaRegionPlace, options?: CallOptions): Promise<void> {
    await this.#call(`${regionPath('cuda', name)}/register`, json(describeCudaRegion(place)), options)
  }

  async unregisterCudaRegion(name: string, options?: CallOptions): Promise<void> {
    await this.#call(`${regionPath('cuda', name)}/unregister`, EMPTY, options)
  }

  async cudaRegions(name = '', options?: CallOptions): Promise<readonly CudaRegion[]> {
    const body = await this.#call(`${regionPath('cuda', name)}/status`, undefined, options)
    return readList('CudaSharedMemoryStatusResponse.RegionStatus', body)
  }

  async traceSettings(model: string, change?: TraceChange, options?: CallOptions): Promise<TraceSettings> {
    const path = model === '' ? '/v2/trace/setting' : `${modelPath(model)}/trace/setting`
    return readTrace(await this.#call(path, change && json(change), options))
  }

  async logSettings(change?: LogSettings, options?: CallOptions): Promise<LogSettings> {
    return readLogSettings(await this.#call('/v2/logging', change && json(change), options))
  }

  close(): void {
    this.#transport.close()
  }

  #isOk(path: string, options: CallOptions = {}): Promise<boolean> {
    return this.#attempt(options, async (signal) => {
      const { status } = await this.#send(path, undefined, { ...options, signal })
      return status === 200
    })
  }

  /** The body of a good answer. Without a body of its own the request is a GET. */
  #call(path: string, body: Uint8Array | undefined, options: CallOptions = {}): Promise<Uint8Array> {
    return this.#attempt(options, async (signal) => checkAnswer(await this.#send(path, body, { ...options, signal })))
  }

  #send(path: string, body: Uint8Array | undefined, { headers, signal }: CallOptions): Promise<HttpAnswer> {
    return this.#transport.send({
      method: body === undefined ? 'GET' : 'POST',
      path: this.#base + path,
      headers: { ...this.#headers, ...(body === undefined || body.length === 0 ? undefined : JSON_TYPE), ...headers },
      body: body === undefined ? [] : [body],
      signal,
    })
  }

  async #attempt<T>(options: CallOptions, act: (signal: AbortSignal | undefined) => Promise<T>): Promise<T> {
    const signal = callSignal(options)
    try {
      return await act(signal)
    } catch (error) {
      throw toClientError(error, signal)
    }
  }
}

function addHeaders(
  prepared: PreparedInfer['headers'],
  { requestCompression, responseCompression, headers }: HttpInferOptions,
): PreparedInfer['headers'] {
  return {
    ...prepared,
    ...(requestCompression === undefined ? undefined : { 'content-encoding': requestCompression }),
    ...(responseCompression === undefined ? undefined : { 'accept-encoding': responseCompression }),
    ...headers,
  }
}

const BINARY_TYPE = { 'content-type': 'application/octet-stream' } as const
const JSON_TYPE = { 'content-type': 'application/json' } as const
const EMPTY = new Uint8Array(0)
