import { ConchError } from '@conch/protocol'
import type { InferRequest, InferResponse, ModelConfig } from '@conch/protocol'
import type { Backend, EngineCalls } from './backend/contract.ts'
import { createBackendRegistry } from './backend/registry.ts'
import { createCalls } from './calls.ts'
import { Circles } from './circles.ts'
import { ResponseCache } from './cache/response-cache.ts'
import { createConfigReader } from './configs.ts'
import type {
  ConfigValue,
  Engine,
  EngineOptions,
  InferContext,
  InstanceState,
  LiveSample,
  LoadOverride,
  ModelDirectory,
  ModelMetadata,
} from './contract.ts'
import { describeConfig } from './describe-config.ts'
import { drainAndClose } from './drain.ts'
import { RateLimiter } from './instance/limiter.ts'
import type { ClientMemory, Lease } from './memory/contract.ts'
import { Regions } from './memory/regions.ts'
import { createVersionBuilder } from './model.ts'
import type { LoadedVersion } from './model.ts'
import { NestedLoads } from './nested-loads.ts'
import type { ModelStatistics, RequestHistory } from './observe/contract.ts'
import { Metrics } from './observe/metrics.ts'
import { readUsage } from './observe/process-usage.ts'
import type { InstanceProcess } from './observe/process-usage.ts'
import type { Slot } from './instance/contract.ts'
import type { IndexEntry, LifecycleEvent, Source, VersionBuilder } from './repository/contract.ts'
import { listFiles, readConfigText } from './repository/listing.ts'
import { openMappedSource } from './repository/local/mapped.ts'
import { openLocalSource } from './repository/local/source.ts'
import { Repository } from './repository/repository.ts'
import { writeTrafficFile } from './repository/traffic-file.ts'
import type { Flight, ResponseListener } from './request.ts'
import type { SequenceSlots } from './schedule/contract.ts'
import { printStartupTable } from './startup-table.ts'
import { findVersions } from './traffic-versions.ts'
import type { Route, TrafficEvent, TrafficView } from './traffic/contract.ts'
import { Traffic } from './traffic/traffic.ts'

/** What tests replace. */
export interface EngineParts {
  readonly findBackend?: (name: string) => Promise<Backend>
}

export function createEngine(options: EngineOptions, parts: EngineParts = {}): Engine {
  return new ServingEngine(options, parts)
}

class ServingEngine implements Engine {
  phase: 'starting' | 'ready' | 'exiting' = 'starting'
  readonly memory: ClientMemory = new Regions()
  readonly requests: RequestHistory
  readonly #options: EngineOptions
  readonly #sources: Source[] = []
  readonly #metrics: Metrics
  readonly #repository: Repository<LoadedVersion>
  readonly #loads = new NestedLoads()
  readonly #findBackend: (name: string) => Promise<Backend>
  readonly #cache: ResponseCache
  readonly #traffic: Traffic
  #stopped: Promise<boolean> | undefined = undefined

  constructor(options: EngineOptions, parts: EngineParts) {
    const { log, autoComplete, backendConfig, metrics } = options
    this.#options = options
    this.#metrics = new Metrics({
      ...metrics,
      namespacing: options.namespacing,
      processes: () => listProcesses(this.#repository.registry.ready()),
      log: (level, text) => log.write(level, text),
    })
    this.requests = this.#metrics.stages
    this.#cache = new ResponseCache(options.cache, log)
    this.#metrics.cacheNumbers = () => this.#cache.numbers
    this.#findBackend = parts.findBackend ?? createBackendRegistry(options.backendDirectory)
    const builder = createVersionBuilder({
      findBackend: this.#findBackend,
      findStep: (model, version, sequence) => this.#repository.registry.findHolder(model, version, sequence),
      metrics: this.#metrics,
      log,
      settings: backendConfig,
      autoComplete,
      gpus: [],
      calls: (model) => this.#calls(model),
      circles: new Circles(),
      cache: this.#cache,
      limiter: options.rateLimit === 'execution_count' ? new RateLimiter(options.rateLimitResources ?? []) : undefined,
    })
    const configs = createConfigReader(autoComplete)
    this.#traffic = new Traffic({
      log,
      versions: (model) => findVersions(this.#repository.registry, model),
      write: (model, text) => this.#writeTraffic(model, text),
    })
    this.#metrics.traffic = () => this.#traffic.views()
    this.#repository = new Repository(options, {
      sources: this.#sources,
      configs,
      builder: this.#noteMade(builder),
      traffic: this.#traffic,
      log,
    })
  }

  #noteMade(builder: VersionBuilder<LoadedVersion>): VersionBuilder<LoadedVersion> {
    return { ...builder, build: (plan) => this.#loads.making(plan.model, () => builder.build(plan)) }
  }

  /** Also while the server starts: a model that is warmed up may need others that are there already. */
  #calls(caller: string): EngineCalls {
    const repository = this.#repository
    const loads = this.#loads
    return createCalls({
      find: (model, version) => repository.registry.find(model, this.#traffic.nameVersion(model, version)),
      route: (request) => this.#traffic.route(request, undefined),
      load: (model, override) => {
        if (!loads.isMaking(caller)) return repository.load(model, override)
        return loads.waiting(caller, model, () => repository.loadWithin(model, override))
      },
      unload: (model, unloadDependents) => repository.unload(model, unloadDependents),
      isReady: (model, version) => this.#isServed(() => repository.registry.find(model, version)),
      createFamily: (kind, name, description) => this.#metrics.createFamily(kind, name, description),
    })
  }

  async start(): Promise<boolean> {
    const { repositories, modelConfigName, log } = this.#options
    await this.#cache.open()
    for (const root of repositories) this.#sources.push(await openLocalSource(root, modelConfigName))
    const complete = await this.#repository.start()
    // Reading a backend's code takes a while in which nothing else happens: not when requests are being served already.
    await this.#findBackend('onnxruntime').catch(() => undefined)
    if (this.phase === 'starting') this.phase = 'ready'
    log.write('info', printStartupTable(await this.#repository.index(false)))
    return complete
  }

  stop(budgetSeconds = this.#options.exitTimeoutSeconds): Promise<boolean> {
    this.phase = 'exiting'
    this.#stopped ??= this.#stop(budgetSeconds)
    return this.#stopped
  }

  async #stop(budget: number): Promise<boolean> {
    const repository = this.#repository
    repository.halt()
    const written = this.#traffic.stop()
    const live = () => [...repository.live]
    const done = await drainAndClose({ log: this.#options.log, budget, live, close: () => repository.close() })
    await written
    await this.#cache.close()
    this.#metrics.close()
    return done
  }

  live(): boolean {
    return true
  }

  async ready(): Promise<boolean> {
    if (this.phase !== 'ready') return false
    if (!this.#options.strictReadiness) return true
    if (!this.#repository.allReady()) return false
    const ready = await Promise.all(this.#repository.registry.ready().map((version) => this.#isReady(version)))
    return ready.every(Boolean)
  }

  modelReady(model: string, version: string): Promise<boolean> {
    return this.#isServed(() => this.#find(model, version))
  }

  async #isServed(find: () => LoadedVersion): Promise<boolean> {
    let found: LoadedVersion
    try {
      found = find()
    } catch (error) {
      if (error instanceof ConchError) return false
      throw error
    }
    return this.#isReady(found)
  }

  async #isReady(version: LoadedVersion): Promise<boolean> {
    try {
      await version.checkReady()
      return true
    } catch (error) {
      const { model, version: number } = version.plan
      const reason = error instanceof Error ? error.message : String(error)
      this.#options.log.write('verbose', `model '${model}' version ${number} is not ready: ${reason}`)
      return false
    }
  }

  #find(model: string, version: string): LoadedVersion {
    if (this.phase === 'starting') throw new ConchError('UNAVAILABLE', 'Server not ready')
    return this.#repository.registry.find(model, this.#traffic.nameVersion(model, version))
  }

  /** A sequence goes on where it began, also when that version was reloaded meanwhile. */
  #target(request: InferRequest, version: string): LoadedVersion {
    const { sequenceId: id } = request
    const found = this.#find(request.model, version)
    if (id === 0n || id === '' || request.sequenceStart) return found
    return this.#repository.registry.holderOf(request.model, found, id)
  }

  metadata(model: string, version: string): ModelMetadata {
    const { metadata } = this.#find(model, version)
    if (version !== '') return metadata
    const ready = this.#repository.registry.versionsOf(model)
    return { ...metadata, versions: ready.map(({ plan }) => plan.version) }
  }

  config(model: string, version: string): ModelConfig {
    return this.#find(model, version).config
  }

  statistics(model: string, version: string): readonly ModelStatistics[] {
    const { registry } = this.#repository
    const versions = model === '' ? registry.ready() : registry.versionsOf(model)
    if (model !== '' && versions.length === 0) {
      throw new ConchError('INVALID_ARG', `requested model '${model}' is not available`)
    }
    const asked = version === '' ? versions : versions.filter(({ plan }) => plan.version === version)
    if (asked.length === 0 && version !== '') {
      throw new ConchError('INVALID_ARG', `requested model version is not available for model '${model}'`)
    }
    const named = model === '' && this.#options.namespacing
    return asked.map(({ plan, reporter: { statistics } }) => {
      return named ? { ...statistics, name: `${plan.namespace}::${statistics.name}` } : statistics
    })
  }

  labels(model: string, version: string, output: string): readonly string[] | undefined {
    return this.#find(model, version).labels.get(output)
  }

  infer(request: InferRequest, context?: InferContext): Promise<InferResponse> {
    let flight: Flight
    let lease: Lease | undefined
    let route: Route | undefined
    try {
      route = this.#traffic.route(request, context?.headers)
      const version = this.#target(request, route?.version ?? request.version)
      lease = this.memory.lend(request)
      flight = version.begin(request, context, undefined)
    } catch (error) {
      route?.refused(error)
      lease?.end()
      return Promise.reject(error as Error)
    }
    // Without a listener a flight that succeeds has its one response.
    const response = (route === undefined ? flight.wait() : route.follow(flight)) as Promise<InferResponse>
    if (lease === undefined) return response
    return deliverOnce(lease, response)
  }

  async stream(request: InferRequest, onResponse: ResponseListener, context?: InferContext): Promise<void> {
    const route = this.#traffic.route(request, context?.headers)
    const version = this.#target(request, route?.version ?? request.version)
    const lease = this.memory.lend(request)
    const take = lease === undefined ? onResponse : deliverTo(lease, onResponse)
    try {
      if (route === undefined) await version.begin(request, context, take).wait()
      else await route.stream(() => version.begin(request, context, route.listen(take)))
    } finally {
      lease?.end()
    }
  }

  findLabel(model: string, label: string): string | undefined {
    return this.#traffic.findLabel(model, label)
  }

  traffic(model: string): TrafficView | undefined {
    return this.#traffic.view(model)
  }

  setTraffic(model: string, policy: unknown): Promise<void> {
    return this.#traffic.set(model, policy)
  }

  rollBackTraffic(model: string, version: string, reason: string): Promise<void> {
    return this.#traffic.rollBack(model, version, { by: 'call', reason })
  }

  onTraffic(listener: (event: TrafficEvent) => void): () => void {
    return this.#traffic.listen(listener)
  }

  async #writeTraffic(model: string, text: string | undefined): Promise<void> {
    const [found] = await this.#repository.find(model)
    if (found === undefined) throw new ConchError('NOT_FOUND', `model '${model}' is in no model repository`)
    await writeTrafficFile(found.model, text)
  }

  index(readyOnly: boolean): Promise<readonly IndexEntry[]> {
    return this.#repository.index(readyOnly)
  }

  async addRepository(root: string, mapping: { folder: string; model: string }): Promise<void> {
    if (this.#sources.some((source) => source.root === root)) {
      throw new ConchError('ALREADY_EXISTS', `model repository '${root}' has already been registered`)
    }
    this.#sources.push(await openMappedSource(root, this.#options.modelConfigName, mapping))
  }

  removeRepository(root: string): void {
    const at = this.#sources.findIndex((source) => source.root === root)
    if (at >= 0) this.#sources.splice(at, 1)
  }

  load(model: string, override?: LoadOverride): Promise<void> {
    return this.#repository.load(model, override)
  }

  unload(model: string, unloadDependents: boolean): Promise<void> {
    return this.#repository.unload(model, unloadDependents)
  }

  metricsText(): Promise<string> {
    return this.#metrics.text()
  }

  liveSamples(): readonly LiveSample[] {
    return this.#repository.registry.ready().map(({ plan, reporter, pending, inflight }) => ({
      model: plan.model,
      version: plan.version,
      statistics: reporter.statistics,
      pending,
      inflight,
      failures: reporter.failures,
      latency: reporter.latency(),
    }))
  }

  instances(model: string, version: string): Promise<readonly InstanceState[]> {
    return Promise.all(this.#find(model, version).instances.map(describeInstance))
  }

  slots(model: string, version: string): SequenceSlots | undefined {
    return this.#find(model, version).slots()
  }

  describeConfig(model: string, version: string): readonly ConfigValue[] {
    return describeConfig(this.#find(model, version))
  }

  async configText(model: string): Promise<string | undefined> {
    const [found] = await this.#repository.find(model)
    return found === undefined ? undefined : readConfigText(found.model)
  }

  async directory(model: string): Promise<ModelDirectory | undefined> {
    const [found] = await this.#repository.find(model)
    if (found === undefined) return undefined
    const { directory, root } = found.model
    return { directory, repository: found.source.root, files: await listFiles(root, directory) }
  }

  onLifecycle(listener: (event: LifecycleEvent) => void): () => void {
    return this.#repository.registry.listen(listener)
  }
}

async function describeInstance({ name, instance }: Slot): Promise<InstanceState> {
  const { healthy = true, process } = instance
  if (process === undefined) return { name, healthy, process }
  const { pid, restarts, lastExit } = process
  return { name, healthy, process: { pid, restarts, lastExit, usage: await readUsage(pid) } }
}

function listProcesses(versions: readonly LoadedVersion[]): readonly InstanceProcess[] {
  return versions.flatMap(({ plan: { model, version }, instances }) =>
    instances.flatMap(({ name, instance: { process } }) =>
      process === undefined ? [] : [{ model, version, instance: name, pid: process.pid, restarts: process.restarts }],
    ),
  )
}

async function deliverOnce(lease: Lease, pending: Promise<InferResponse>): Promise<InferResponse> {
  try {
    return lease.deliver(await pending)
  } finally {
    lease.end()
  }
}

function deliverTo(lease: Lease, onResponse: ResponseListener): ResponseListener {
  return (response, final) => onResponse(lease.deliver(response), final)
}
