import { completeInstanceGroups, normaliseConfig } from '@conch/protocol'
import type { ConchError, InferRequest, InferResponse, ModelConfig } from '@conch/protocol'
import type { Backend, BackendModel, EngineCalls } from './backend/contract.ts'
import type { CacheFront } from './cache/front.ts'
import type { ResponseCache } from './cache/response-cache.ts'
import type { Circles } from './circles.ts'
import { checkRuntime } from './backend/runtime.ts'
import { complain } from './configs.ts'
import type { InferContext, ModelMetadata } from './contract.ts'
import { describePlace, LIBRARIES, noteTo } from './describe-place.ts'
import { describeTensors } from './describe-tensors.ts'
import { Idle } from './idle.ts'
import type { Slot } from './instance/contract.ts'
import { planInstances } from './instance/groups.ts'
import { Instances } from './instance/instances.ts'
import type { RateLimiter } from './instance/limiter.ts'
import { Pool } from './instance/pool.ts'
import type { Log, Reporter } from './observe/contract.ts'
import type { Metrics } from './observe/metrics.ts'
import type { ServedVersion, VersionBuilder, VersionPlan } from './repository/contract.ts'
import { readInitialStates } from './repository/initial-states.ts'
import { failAccepted, refuse } from './refusals.ts'
import { checkNamedFiles, findLabelFiles, readLabels } from './repository/named-files.ts'
import { findWaiting, Flight, newTimings } from './request.ts'
import type { FlightOwner, FlightParts, Outcome, ResponseListener } from './request.ts'
import { chooseScheduler } from './schedule/choose.ts'
import type { OpenSequences, Scheduler, SequenceSlots, StepContext, StepTarget } from './schedule/contract.ts'
import { checkSteps, inheritDecoupled } from './schedule/ensemble/check-steps.ts'
import { buildGraph } from './schedule/ensemble/graph.ts'
import { refuseStopped } from './schedule/stopping.ts'
import { RequestValidator } from './validate-request.ts'

type FindStep = (model: string, version: string, sequence?: bigint | string) => LoadedVersion

export interface ModelParts {
  /** Throws the original's text for a backend that there is not. */
  readonly findBackend: (name: string) => Promise<Backend>
  /** The version that runs a step of an ensemble. */
  readonly findStep: FindStep
  readonly metrics: Metrics
  readonly log: Log
  /** Backend ('' = global) → setting → value. */
  readonly settings: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly autoComplete: boolean
  /** Ids of the GPUs that may be used. */
  readonly gpus: readonly number[]
  /** What a model of that name may ask for. */
  readonly calls: (model: string) => EngineCalls
  readonly circles: Circles
  readonly cache: ResponseCache
  readonly limiter: RateLimiter | undefined
}

/** Builds one loaded version: backend, instances, schedule. */
export function createVersionBuilder(parts: ModelParts): VersionBuilder<LoadedVersion> {
  return {
    build: async (plan) => {
      const started = performance.now()
      const ensemble = plan.config.platform === 'ensemble'
      const version = ensemble ? await buildEnsemble(plan, parts) : await buildVersion(plan, parts)
      version.reporter.loaded(ensemble ? 0 : (performance.now() - started) / 1_000)
      return version
    },
    update: (served, change) =>
      served.updateInstances({ config: change.config, written: change.written }, (config) => {
        const complete = served.completeGroups(config, parts.gpus)
        complain(complete, change.written, { strictIo: false, gpus: parts.gpus, note: noteTo(parts.log) })
        return complete
      }),
    stepsOf: (config) => buildGraph(config).steps,
    checkSteps: (config, steps) =>
      checkSteps(
        config,
        steps.map((step) => step.config),
      ),
  }
}

async function buildVersion(plan: VersionPlan, parts: ModelParts): Promise<LoadedVersion> {
  const backend = await parts.findBackend(plan.config.backend)
  checkRuntime(plan.config, plan.version)
  const context = describePlace(plan, parts)
  // Before anything of what the config names is opened.
  await checkNamedFiles(plan.config, plan, context.settings[LIBRARIES])
  const filled = parts.autoComplete ? await backend.complete(plan.config, context) : plan.config
  const facts = { preferredGroup: backend.preferredGroup, gpus: parts.gpus }
  const config = completeInstanceGroups(normaliseConfig(filled), facts)
  await checkLoaded(config, plan, parts)
  const labels = await readLabels(config, plan)
  return openVersion(plan, parts, { config, labels, loaded: { backend, model: await backend.load(config, context) } })
}

/** An ensemble has no files of its own but labels; outputs without some take those of the step that makes them. */
async function buildEnsemble(plan: VersionPlan, parts: ModelParts): Promise<LoadedVersion> {
  const steps = buildGraph(plan.config).steps.map(({ model, version }) => parts.findStep(model, version).config)
  const config = inheritDecoupled(normaliseConfig(plan.config), steps)
  await checkLoaded(config, plan, parts)
  await checkNamedFiles(config, plan)
  const labels = new Map(await readLabels(config, plan))
  for (const { model, version, outputs } of buildGraph(config).steps) {
    const step = parts.findStep(model, version)
    for (const [output, tensor] of outputs) {
      const inherited = step.labels.get(output)
      if (inherited !== undefined && !labels.has(tensor)) labels.set(tensor, inherited)
    }
  }
  return openVersion(plan, parts, { config, labels, loaded: undefined })
}

async function checkLoaded(config: ModelConfig, plan: VersionPlan, parts: ModelParts): Promise<void> {
  const found = await findLabelFiles(config, plan)
  complain(config, plan.written, {
    strictIo: true,
    directoryName: plan.model,
    gpus: parts.gpus,
    files: { directory: plan.model, has: (path) => found.has(path) },
    note: noteTo(parts.log),
  })
}

interface Prepared {
  readonly config: ModelConfig
  readonly labels: ReadonlyMap<string, readonly string[]>
  readonly loaded: Loaded | undefined
}

/** Instances first, then the schedule over them. Whatever fails from here on, what was loaded is released. */
async function openVersion(plan: VersionPlan, parts: ModelParts, prepared: Prepared): Promise<LoadedVersion> {
  const { model, version, namespace, modelDirectory: directory } = plan
  const { config, loaded } = prepared
  const { cache } = parts
  const reporter = parts.metrics.createReporter({ model, version, namespace, config, cached: cache.serves(config) })
  const validator = new RequestValidator(config)
  const check = (request: InferRequest) => {
    const { flaw } = validator.check(request)
    if (flaw !== undefined) throw flaw
  }
  const instances = loaded && new Instances(loaded.model, { directory, reporter, check }, parts.limiter)
  try {
    await instances?.become(planInstances(config.instance_group), config)
    const scope = await cache.nameScope({ ...plan, config })
    const { findStep, circles, log } = parts
    const kept = { reporter, validator, instances, findStep, circles, cache, scope, log }
    return new LoadedVersion(plan, { ...prepared, ...kept, initialStates: await readInitialStates(config, plan) })
  } catch (error) {
    await instances?.close()
    await loaded?.model.close()
    reporter.close()
    throw error
  }
}

/** What a backend gave for a version; ensembles have none. */
interface Loaded {
  readonly backend: Backend
  readonly model: BackendModel
}

interface VersionParts {
  readonly config: ModelConfig
  readonly labels: ReadonlyMap<string, readonly string[]>
  readonly loaded: Loaded | undefined
  readonly reporter: Reporter
  readonly validator: RequestValidator
  readonly instances: Instances | undefined
  readonly findStep: FindStep
  readonly circles: Circles
  readonly cache: ResponseCache
  /** What its responses are filed under in the cache. */
  readonly scope: string
  readonly log: Log
  readonly initialStates: ReadonlyMap<string, Uint8Array>
}

type Opening = Pick<FlightParts, 'rows' | 'timings' | 'onResponse'> & { readonly context: InferContext | undefined }

/** One version of a model that can be asked. Counts its requests; each ends in exactly one way. */
export class LoadedVersion implements ServedVersion, FlightOwner, StepTarget {
  plan: VersionPlan
  readonly labels: ReadonlyMap<string, readonly string[]>
  readonly metadata: ModelMetadata
  readonly reporter: Reporter
  readonly decoupled: boolean
  /** Undefined for models without sequences. */
  readonly slots = (): SequenceSlots | undefined => this.#scheduler.inspectSlots?.()
  config: ModelConfig
  inflight = 0
  readonly #chain: readonly string[]
  readonly #circles: Circles
  readonly #loaded: Loaded | undefined
  readonly #instances: Instances | undefined
  readonly #scheduler: Scheduler
  readonly #validator: RequestValidator
  readonly #cache: ResponseCache
  readonly #front: CacheFront | undefined
  readonly #scope: string
  readonly #steps: () => readonly LoadedVersion[]
  /** Ensemble requests that may still need it. */
  #holds = 0
  #stopping = false
  readonly #idle = new Idle()
  #drained: Promise<void> | undefined = undefined
  #stopped: Promise<void> | undefined = undefined

  /** Throws for what no scheduler can do. */
  constructor(plan: VersionPlan, own: VersionParts) {
    const { config, reporter, instances, findStep, log, initialStates } = own
    const { model, version } = plan
    this.plan = plan
    this.config = config
    this.#chain = [model]
    this.#circles = own.circles
    this.labels = own.labels
    this.metadata = describeTensors(config, version)
    this.decoupled = config.model_transaction_policy?.decoupled === true
    this.reporter = reporter
    this.#loaded = own.loaded
    this.#validator = own.validator
    this.#instances = instances
    const pool = instances?.pool ?? new Pool()
    this.#scheduler = chooseScheduler({ model, version, config, pool, reporter, findStep, log, initialStates })
    const steps = own.loaded === undefined ? buildGraph(config).steps : []
    this.#steps = () => steps.map((step) => findStep(step.model, step.version))
    this.#scope = own.scope
    this.#cache = own.cache
    this.#front = own.cache.serves(config) ? this.#createFront() : undefined
  }

  #createFront(): CacheFront | undefined {
    const { config, plan } = this
    return this.#cache.createFront({
      model: plan.model,
      version: plan.version,
      scope: this.#scope,
      outputs: new Set(config.output.map(({ name }) => name)),
      below: () => this.#nameSteps(),
      run: (flight) => this.#schedule(flight),
      answer: (flight, response) => {
        if (this.#scheduler.answer === undefined) flight.respond(response, true)
        else this.#scheduler.answer(flight, response)
      },
    })
  }

  /** Which versions an ensemble's answers come from now. */
  #nameSteps(): string {
    return this.#steps()
      .map((step) => `${step.#scope}(${step.#nameSteps()})`)
      .join()
  }

  /** Undefined for models without sequences. */
  get sequences(): OpenSequences | undefined {
    return this.#scheduler.sequences
  }

  get instances(): readonly Slot[] {
    return this.#instances?.list() ?? []
  }

  /** Rejects with the reason when one of its instances could not work now. */
  async checkReady(): Promise<void> {
    await this.#instances?.checkReady()
  }

  get pending(): number {
    return this.#scheduler.pending
  }

  /** Takes a client's request. Throws when it does not fit the model: then nothing is counted. */
  begin(request: InferRequest, context: InferContext | undefined, onResponse: ResponseListener | undefined): Flight {
    const timings = context?.timings ?? newTimings()
    if (timings.start === 0) timings.start = performance.now()
    const { rows, flaw } = this.#validator.check(request)
    const flight = this.#open(request, { rows, timings, context, onResponse })
    this.inflight += 1
    if (flight.signal?.aborted === true) flight.cancel()
    else this.#enqueue(flight, this.#stopping && flight.outer === undefined, flaw)
    return flight
  }

  /** Takes a step of an ensemble, which holds this version: served also while it stops. */
  run(request: InferRequest, context: StepContext): Promise<InferResponse | undefined> {
    const { timings, onResponse } = context
    timings.start = performance.now()
    const { rows, flaw } = this.#validator.check(request)
    const flight = this.#open(request, { rows, timings, context, onResponse })
    this.inflight += 1
    this.#enqueue(flight, false, flaw)
    return flight.wait()
  }

  #open(request: InferRequest, { rows, timings, context, onResponse }: Opening): Flight {
    const chain = context?.chain
    if (chain !== undefined) this.#circles.check(this, chain)
    const flight = new Flight(this, request, {
      rows,
      chain: chain === undefined ? this.#chain : [...chain, this.plan.model],
      outer: chain && findWaiting(chain),
      trace: context?.trace?.begin(this.plan, request),
      signal: context?.signal,
      timings,
      onResponse,
      onError: context?.onError,
    })
    if (flight.outer !== undefined) this.#circles.begin(flight, this)
    return flight
  }

  #enqueue(flight: Flight, refuses: boolean, flaw: ConchError | undefined): void {
    try {
      if (refuses && this.#scheduler.continues?.(flight) !== true) refuseStopped(flight)
      if (flaw !== undefined) failAccepted(flight, flaw)
      else if (this.#front === undefined) this.#scheduler.enqueue(flight)
      else this.#front.serve(flight)
    } catch (error) {
      refuse(flight, error)
    }
  }

  /** Not in the cache. */
  #schedule(flight: Flight): void {
    try {
      this.#scheduler.enqueue(flight)
    } catch (error) {
      refuse(flight, error)
    }
  }

  ended(flight: Flight, outcome: Outcome): void {
    this.inflight -= 1
    this.reporter.request(flight, outcome)
    if (flight.outer !== undefined) this.#circles.end(flight)
    if (this.inflight === 0) this.#idle.wake()
  }

  hold(): void {
    this.#holds += 1
  }

  release(): void {
    this.#holds -= 1
    if (this.#holds === 0) this.#idle.wake()
  }

  /** Refuses what clients send; resolves when nothing is in flight and no ensemble needs it. Others may still call it. */
  settle(): Promise<void> {
    this.#stopping = true
    return this.#idle.wait(() => this.inflight > 0 || this.#holds > 0)
  }

  /** The same, for good. */
  drain(): Promise<void> {
    this.#drained ??= this.settle().then(() => this.#scheduler.stop())
    return this.#drained
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#release()
    return this.#stopped
  }

  async #release(): Promise<void> {
    await this.drain()
    await this.#instances?.close()
    await this.#loaded?.model.close()
    this.#cache.forget(this.#scope)
    this.reporter.close()
  }

  /** Adds and removes instances while the others work; `complete` makes the config whole and checks it. */
  async updateInstances(
    change: Pick<VersionPlan, 'config' | 'written'>,
    complete: (config: ModelConfig) => ModelConfig,
  ): Promise<void> {
    const { instance_group, version_policy } = change.config
    const config = complete({ ...this.config, instance_group, version_policy })
    await this.#instances?.become(planInstances(config.instance_group), config)
    this.config = config
    this.plan = { ...this.plan, ...change }
  }

  /** The config with the instance groups that its backend prefers where it names none. */
  completeGroups(config: ModelConfig, gpus: readonly number[]): ModelConfig {
    const preferredGroup = this.#loaded?.backend.preferredGroup
    return preferredGroup === undefined ? config : completeInstanceGroups(config, { preferredGroup, gpus })
  }
}
