import { completeInstanceGroups, toProtocolDatatype } from '@conch/protocol'
import type { InferRequest, InferResponse, ModelConfig, ModelInput, ModelOutput } from '@conch/protocol'
import type { Backend, BackendModel } from './backend/contract.ts'
import type { InferContext, ModelMetadata, TensorMetadata } from './contract.ts'
import { planInstances } from './instance/groups.ts'
import { Instances } from './instance/instances.ts'
import { Pool } from './instance/pool.ts'
import type { Reporter } from './observe/contract.ts'
import type { ServedVersion, VersionPlan } from './repository/contract.ts'
import { Flight, newTimings } from './request.ts'
import type { FlightOwner, Outcome } from './request.ts'
import { chooseScheduler } from './schedule/choose.ts'
import type { Scheduler, StepTarget } from './schedule/contract.ts'
import { refuseStopped } from './schedule/direct.ts'
import { RequestValidator } from './validate-request.ts'

/** What a backend gave for a version; ensembles have none. */
export interface Loaded {
  readonly backend: Backend
  readonly model: BackendModel
}

export interface VersionParts {
  readonly config: ModelConfig
  readonly labels: ReadonlyMap<string, readonly string[]>
  readonly loaded: Loaded | undefined
  readonly reporter: Reporter
  readonly findStep: (model: string, version: string) => StepTarget
}

/** One version of a model that can be asked. Counts its requests; each ends in exactly one way. */
export class LoadedVersion implements ServedVersion, FlightOwner, StepTarget {
  readonly plan: VersionPlan
  readonly labels: ReadonlyMap<string, readonly string[]>
  readonly metadata: ModelMetadata
  readonly reporter: Reporter
  readonly decoupled: boolean
  config: ModelConfig
  inflight = 0
  readonly #loaded: Loaded | undefined
  readonly #instances: Instances | undefined
  readonly #scheduler: Scheduler
  readonly #validator: RequestValidator
  /** Ensemble requests that may still need it. */
  #holds = 0
  #stopping = false
  #onFree: (() => void) | undefined = undefined
  #drained: Promise<void> | undefined = undefined
  #stopped: Promise<void> | undefined = undefined

  /** Throws for what no scheduler can do. */
  constructor(plan: VersionPlan, own: VersionParts) {
    const { config, loaded, reporter, findStep } = own
    const { model, version, modelDirectory: directory } = plan
    this.plan = plan
    this.config = config
    this.labels = own.labels
    this.metadata = describeTensors(config, version)
    this.decoupled = config.model_transaction_policy?.decoupled === true
    this.reporter = reporter
    this.#loaded = loaded
    this.#validator = new RequestValidator(config)
    const check = (request: InferRequest) => void this.#validator.check(request)
    this.#instances = loaded && new Instances(loaded.model, { directory, reporter, check })
    const pool = this.#instances?.pool ?? new Pool()
    this.#scheduler = chooseScheduler({ model, version, config, pool, reporter, findStep })
  }

  /** Creates and warms the instances. */
  async open(): Promise<void> {
    await this.#instances?.become(planInstances(this.config.instance_group), this.config)
  }

  get pending(): number {
    return this.#scheduler.pending
  }

  /** Takes a client's request. Throws when it does not fit the model: then nothing is counted. */
  begin(
    request: InferRequest,
    context: InferContext | undefined,
    onResponse: ((response: InferResponse) => void) | undefined,
  ): Flight {
    const timings = context?.timings ?? newTimings()
    if (timings.start === 0) timings.start = performance.now()
    const rows = this.#validator.check(request)
    const flight = new Flight(this, request, { rows, signal: context?.signal, timings, onResponse })
    this.inflight += 1
    if (flight.signal?.aborted === true) flight.cancel()
    else this.#enqueue(flight, this.#stopping)
    return flight
  }

  /** Takes a step of an ensemble, which holds this version: served also while it stops. */
  run(request: InferRequest, context: InferContext): Promise<InferResponse> {
    const timings = context.timings ?? newTimings()
    timings.start = performance.now()
    const rows = this.#validator.check(request)
    const flight = new Flight(this, request, { rows, signal: context.signal, timings, onResponse: undefined })
    this.inflight += 1
    this.#enqueue(flight, false)
    return flight.wait() as Promise<InferResponse>
  }

  #enqueue(flight: Flight, refuses: boolean): void {
    try {
      if (refuses) refuseStopped(flight)
      this.#scheduler.enqueue(flight)
    } catch (error) {
      flight.fail(error, 'rejected')
    }
  }

  ended(flight: Flight, outcome: Outcome): void {
    this.inflight -= 1
    this.reporter.request(flight, outcome)
    if (this.inflight === 0) this.#onFree?.()
  }

  hold(): void {
    this.#holds += 1
  }

  release(): void {
    this.#holds -= 1
    if (this.#holds === 0) this.#onFree?.()
  }

  /** Refuses new requests; resolves when none is in flight and no ensemble needs it any more. */
  drain(): Promise<void> {
    this.#stopping = true
    this.#drained ??= this.#drain()
    return this.#drained
  }

  async #drain(): Promise<void> {
    while (this.inflight > 0 || this.#holds > 0) await new Promise<void>((resolve) => (this.#onFree = resolve))
    await this.#scheduler.stop()
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#release()
    return this.#stopped
  }

  async #release(): Promise<void> {
    await this.drain()
    await this.#instances?.close()
    await this.#loaded?.model.close()
    this.reporter.close()
  }

  /** Adds and removes instances while the others work; `complete` makes the config whole and checks it. */
  async updateInstances(polled: ModelConfig, complete: (config: ModelConfig) => ModelConfig): Promise<void> {
    const { instance_group, version_policy } = polled
    const config = complete({ ...this.config, instance_group, version_policy })
    await this.#instances?.become(planInstances(config.instance_group), config)
    this.config = config
  }

  /** The config with the instance groups that its backend prefers where it names none. */
  completeGroups(config: ModelConfig, gpus: readonly number[]): ModelConfig {
    const preferredGroup = this.#loaded?.backend.preferredGroup
    return preferredGroup === undefined ? config : completeInstanceGroups(config, { preferredGroup, gpus })
  }
}

function describeTensors(config: ModelConfig, version: string): ModelMetadata {
  const describe = ({ name, data_type, dims }: ModelInput | ModelOutput): TensorMetadata => ({
    name,
    datatype: toProtocolDatatype(data_type) ?? 'INVALID',
    shape: config.max_batch_size > 0 ? [-1, ...dims] : dims,
  })
  return {
    name: config.name,
    versions: [version],
    platform: config.platform === '' ? config.backend : config.platform,
    inputs: config.input.map(describe),
    outputs: config.output.map(describe),
  }
}
