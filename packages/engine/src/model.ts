import { completeInstanceGroups, normaliseConfig, toProtocolDatatype } from '@conch/protocol'
import type { InferRequest, InferResponse, ModelConfig, ModelInput, ModelOutput } from '@conch/protocol'
import type { Backend, BackendContext, BackendModel, InstanceSpec } from './backend/contract.ts'
import { complain } from './configs.ts'
import type { InferContext, ModelMetadata, TensorMetadata } from './contract.ts'
import type { Slot } from './instance/contract.ts'
import { instanceSignature, planInstances } from './instance/groups.ts'
import { Pool } from './instance/pool.ts'
import { warmUp } from './instance/warmup.ts'
import { checkNamedFiles, findLabelFiles, readLabels } from './model-files.ts'
import type { Log, Reporter } from './observe/contract.ts'
import type { Metrics } from './observe/metrics.ts'
import type { ServedVersion, VersionBuilder, VersionPlan } from './repository/contract.ts'
import { Flight, newTimings } from './request.ts'
import type { FlightOwner, Outcome } from './request.ts'
import { chooseScheduler } from './schedule/choose.ts'
import type { Scheduler } from './schedule/contract.ts'
import { RequestValidator } from './validate-request.ts'

export interface ModelParts {
  /** Throws the original's text for a backend that there is not. */
  readonly findBackend: (name: string) => Promise<Backend>
  readonly metrics: Metrics
  readonly log: Log
  /** Backend ('' = global) → setting → value. */
  readonly settings: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly autoComplete: boolean
  /** Ids of the GPUs that may be used. */
  readonly gpus: readonly number[]
}

/** Builds one loaded version: backend, instances, schedule. */
export function createVersionBuilder(parts: ModelParts): VersionBuilder<LoadedVersion> {
  return {
    build: (plan) => buildVersion(plan, parts),
    update: (served, change) => served.updateInstances(change),
  }
}

async function buildVersion(plan: VersionPlan, parts: ModelParts): Promise<LoadedVersion> {
  const started = performance.now()
  const backend = await parts.findBackend(plan.config.backend)
  const context = describePlace(plan, parts)
  const filled = parts.autoComplete ? await backend.complete(plan.config, context) : plan.config
  const facts = { preferredGroup: backend.preferredGroup, gpus: parts.gpus }
  const config = completeInstanceGroups(normaliseConfig(filled), facts)
  const found = await findLabelFiles(config, plan)
  complain(config, plan.written, {
    strictIo: true,
    directoryName: plan.model,
    gpus: parts.gpus,
    files: { directory: plan.model, has: (path) => found.has(path) },
    note: (text) => parts.log.write('info', text),
  })
  await checkNamedFiles(config, plan)
  const labels = await readLabels(config, plan)
  const model = await backend.load(config, context)
  const version = await createVersion(plan, { config, labels, model, backend, parts })
  version.reporter.loaded((performance.now() - started) / 1_000)
  return version
}

async function createVersion(plan: VersionPlan, own: VersionParts): Promise<LoadedVersion> {
  let version: LoadedVersion
  try {
    version = new LoadedVersion(plan, own)
  } catch (error) {
    await own.model.close()
    throw error
  }
  try {
    await version.open()
    return version
  } catch (error) {
    await version.stop()
    throw error
  }
}

function describePlace(plan: VersionPlan, parts: ModelParts): BackendContext {
  const { modelDirectory, versionDirectory, version } = plan
  return {
    modelDirectory,
    versionDirectory,
    version,
    settings: { ...parts.settings[''], ...parts.settings[plan.config.backend] },
    log: (level, text) => parts.log.write(level, text),
  }
}

interface VersionParts {
  readonly config: ModelConfig
  readonly labels: ReadonlyMap<string, readonly string[]>
  readonly model: BackendModel
  readonly backend: Backend
  readonly parts: ModelParts
}

/** One version of a model that can be asked. Counts its requests; each ends in exactly one way. */
export class LoadedVersion implements ServedVersion, FlightOwner {
  readonly plan: VersionPlan
  readonly labels: ReadonlyMap<string, readonly string[]>
  readonly metadata: ModelMetadata
  readonly reporter: Reporter
  readonly decoupled: boolean
  config: ModelConfig
  inflight = 0
  readonly #own: VersionParts
  readonly #pool = new Pool()
  readonly #slots = new Map<Slot, string>()
  readonly #scheduler: Scheduler
  readonly #validator: RequestValidator
  #onIdle: (() => void) | undefined = undefined
  #drained: Promise<void> | undefined = undefined
  #stopped: Promise<void> | undefined = undefined

  constructor(plan: VersionPlan, own: VersionParts) {
    const { config, parts } = own
    const { model, version } = plan
    this.plan = plan
    this.config = config
    this.labels = own.labels
    this.metadata = describeTensors(config, version)
    this.decoupled = config.model_transaction_policy?.decoupled === true
    this.reporter = parts.metrics.createReporter({ model, version, config })
    this.#own = own
    this.#validator = new RequestValidator(config)
    try {
      this.#scheduler = chooseScheduler({ model, version, config, pool: this.#pool, reporter: this.reporter })
    } catch (error) {
      this.reporter.close()
      throw error
    }
  }

  /** Creates and warms the instances. */
  async open(): Promise<void> {
    for (const slot of await this.#createSlots(planInstances(this.config.instance_group))) this.#join(slot)
  }

  get pending(): number {
    return this.#scheduler.pending
  }

  /** Takes a request; the flight tells how it ends. Throws when the request does not fit the model: then nothing is counted. */
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
    else this.#enqueue(flight)
    return flight
  }

  #enqueue(flight: Flight): void {
    try {
      this.#scheduler.enqueue(flight)
    } catch (error) {
      flight.fail(error, 'rejected')
    }
  }

  ended(flight: Flight, outcome: Outcome): void {
    this.inflight -= 1
    this.reporter.request(flight, outcome)
    if (this.inflight === 0) this.#onIdle?.()
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#release()
    return this.#stopped
  }

  async #release(): Promise<void> {
    await this.drain()
    await Promise.all([...this.#slots.keys()].map((slot) => this.#retire(slot)))
    await this.#own.model.close()
    this.reporter.close()
  }

  /** Refuses new requests; resolves when none is in flight. */
  drain(): Promise<void> {
    this.#drained ??= this.#scheduler.stop().then(async () => {
      if (this.inflight > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve))
    })
    return this.#drained
  }

  /** Adds and removes instances while the others work. On failure the old ones stay. */
  async updateInstances({ config: polled, written }: Pick<VersionPlan, 'config' | 'written'>): Promise<void> {
    const { backend, parts } = this.#own
    const { instance_group, version_policy } = polled
    const facts = { preferredGroup: backend.preferredGroup, gpus: parts.gpus }
    const config = completeInstanceGroups({ ...this.config, instance_group, version_policy }, facts)
    const note = (text: string) => parts.log.write('info', text)
    complain(config, written, { strictIo: false, gpus: parts.gpus, note })
    const { missing, surplus } = this.#compare(planInstances(config.instance_group))
    for (const slot of await this.#createSlots(missing)) this.#join(slot)
    this.config = config
    await Promise.all(surplus.map((slot) => this.#retire(slot)))
  }

  #compare(wanted: readonly InstanceSpec[]): { missing: readonly InstanceSpec[]; surplus: readonly Slot[] } {
    const surplus = new Map(this.#slots)
    const missing = wanted.filter((spec) => {
      const signature = instanceSignature(spec)
      const kept = [...surplus].find(([, other]) => other === signature)
      if (kept !== undefined) surplus.delete(kept[0])
      return kept === undefined
    })
    return { missing, surplus: [...surplus.keys()] }
  }

  async #createSlots(specs: readonly InstanceSpec[]): Promise<readonly (Slot & { signature: string })[]> {
    const tries = await Promise.allSettled(specs.map((spec) => this.#createSlot(spec)))
    const made = tries.flatMap((attempt) => (attempt.status === 'fulfilled' ? [attempt.value] : []))
    const failed = tries.find((attempt) => attempt.status === 'rejected')
    if (failed === undefined) return made
    await Promise.allSettled(made.map((slot) => slot.instance.close()))
    throw failed.reason
  }

  async #createSlot(spec: InstanceSpec): Promise<Slot & { signature: string }> {
    const instance = await this.#own.model.createInstance(spec)
    const slot = { name: spec.name, instance, signature: instanceSignature(spec) }
    try {
      const check = (request: InferRequest) => void this.#validator.check(request)
      const { config, reporter } = this
      await warmUp(slot, { config, directory: this.plan.modelDirectory, reporter, check })
    } catch (error) {
      await instance.close()
      throw error
    }
    return slot
  }

  #join(slot: Slot & { signature: string }): void {
    this.#slots.set(slot, slot.signature)
    this.#pool.add(slot)
  }

  async #retire(slot: Slot): Promise<void> {
    this.#slots.delete(slot)
    await this.#pool.remove(slot)
    await slot.instance.close()
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
