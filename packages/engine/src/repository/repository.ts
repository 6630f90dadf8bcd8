import { ConchError } from '@conch/protocol'
import type { Log } from '../observe/contract.ts'
import { isModified } from './changes.ts'
import type { ConfigReader, IndexEntry, ServedVersion, Source, TrafficReader, VersionBuilder } from './contract.ts'
import { Ensembles, orderSteps } from './ensembles.ts'
import { Lifecycle } from './lifecycle.ts'
import { Poller } from './polled.ts'
import type { Found, Polled } from './polled.ts'
import { checkName, Reading } from './reading.ts'
import { messageOf } from './reason.ts'
import type { ModelRecord } from './record.ts'
import { Registry } from './registry.ts'
import { Limit, Turns } from './turns.ts'

/** A model whose files changed less than this ago is still being written: it is looked at again with the next poll. */
const SETTLE_MS = 1_000

/** Models that are looked at together; with thousands of them at once nothing else would get its turn. */
const POLLED_AT_ONCE = 16

export interface RepositoryOptions {
  readonly controlMode: 'none' | 'poll' | 'explicit'
  readonly startupModels: readonly string[]
  readonly pollSeconds: number
  readonly loadThreads: number
  readonly loadRetries: number
  readonly namespacing: boolean
}

export interface RepositoryParts<V extends ServedVersion> {
  readonly sources: readonly Source[]
  readonly configs: ConfigReader
  readonly builder: VersionBuilder<V>
  readonly traffic?: TrafficReader
  readonly log: Log
}

/** What a load call may carry. */
export interface Override {
  readonly config?: string | undefined
  readonly files?: ReadonlyMap<string, Uint8Array> | undefined
}

/** The models of all repositories and what is done to them: start, load, unload, poll. */
export class Repository<V extends ServedVersion> {
  readonly registry: Registry<V>
  readonly #options: RepositoryOptions
  readonly #log: Log
  readonly #poller: Poller
  readonly #reading: Reading<V>
  readonly #lifecycle: Lifecycle<V>
  readonly #ensembles: Ensembles<V>
  readonly #turns = new Turns()
  readonly #limit: Limit
  #timer: NodeJS.Timeout | undefined = undefined
  #stopped = false

  constructor(options: RepositoryOptions, parts: RepositoryParts<V>) {
    const { builder, traffic, log } = parts
    this.registry = new Registry<V>(options.namespacing)
    this.#ensembles = new Ensembles(this.registry, builder)
    this.#options = options
    this.#log = log
    this.#poller = new Poller(parts)
    const polls = options.controlMode === 'poll'
    this.#reading = new Reading({ poller: this.#poller, registry: this.registry, log, traffic, polls })
    const limit = new Limit(options.loadThreads)
    this.#limit = limit
    this.#lifecycle = new Lifecycle({ registry: this.registry, builder, log, limit, retries: options.loadRetries })
  }

  /** Loads what the mode wants at start. Resolves to false when anything is not served. */
  async start(): Promise<boolean> {
    const { controlMode, startupModels } = this.#options
    const wildcard = startupModels.includes('*')
    if (wildcard && startupModels.length > 1) {
      const rule = "Wildcard model name '*' must be the ONLY startup model if specified at all."
      throw new ConchError('INVALID_ARG', rule)
    }
    const all = controlMode !== 'explicit' || wildcard
    const models = all ? [...(await this.#poller.list()).keys()] : [...new Set(startupModels)]
    const done = await Promise.all(models.map((model) => this.#tryLoad(model)))
    if (controlMode === 'poll') this.#pollLater()
    return done.every(Boolean)
  }

  /** Explicit load; resolves when every version of it serves. */
  async load(model: string, override: Override = {}): Promise<void> {
    this.#checkMode()
    checkName(model)
    await this.#loadTree(model, override)
    for (const record of this.registry.named(model)) record.explicit = true
  }

  /** For a model that loads others while it is being loaded itself. */
  loadWithin(model: string, override: Override = {}): Promise<void> {
    return this.#limit.lend(() => this.load(model, override))
  }

  /** Loads a model, and what it is made of before it. */
  async #loadTree(model: string, override: Override): Promise<void> {
    const steps = await this.#turns.run([model], () => this.#load(model, override))
    if (steps.length === 0) return
    const order = await this.#order(model, steps)
    await this.#turns.run(order, async () => {
      const failures = new Map<string, unknown>()
      for (const name of order.slice(0, -1)) {
        await this.#load(name, {}, failures).catch((error: unknown) => failures.set(name, error))
      }
      await this.#load(model, override, failures)
    })
  }

  async #order(model: string, steps: readonly string[]): Promise<readonly string[]> {
    try {
      return await orderSteps(model, steps, async (name) => {
        const [found] = await this.#poller.find(name).catch(() => [])
        if (found === undefined) return []
        const polled = await this.#poller.read(name, found).catch(() => undefined)
        return polled === undefined ? [] : this.#ensembles.namesIn(polled.config)
      })
    } catch (error) {
      const [found] = await this.#poller.find(model)
      return this.#failLoad(found && this.registry.touch(model, found.source.root), model, error)
    }
  }

  /**
   * Loads one model if it changed. Without `failures` an ensemble is left alone and the names of its steps are returned:
   * they must be loaded first; with it, their failures are part of the answer.
   */
  async #load(model: string, override: Override, failures?: ReadonlyMap<string, unknown>): Promise<readonly string[]> {
    const { config, files } = override
    if (files !== undefined && files.size > 0) {
      return this.#apply(await this.#reading.readFiles(model, config, files), failures)
    }
    const found = await this.#reading.find(model)
    const steps = new Set<string>()
    for (const one of found) {
      const changed = config !== undefined || this.#isModified(model, one)
      const below = changed
        ? await this.#apply(await this.#reading.read(model, one, config), failures)
        : this.#stepsOf(model, one)
      for (const step of below) steps.add(step)
    }
    return failures === undefined ? [...steps] : []
  }

  async #apply(polled: Polled, failures: ReadonlyMap<string, unknown> | undefined): Promise<readonly string[]> {
    const steps = this.#ensembles.namesIn(polled.config)
    if (steps.length > 0 && failures === undefined) {
      await polled.discard?.()
      return steps
    }
    const record = this.registry.touch(polled.model, polled.namespace)
    try {
      this.#ensembles.check(polled.config, failures)
    } catch (error) {
      await polled.discard?.()
      this.#failLoad(record, polled.model, error)
    }
    try {
      await this.#lifecycle.load(record, polled)
    } catch (error) {
      await polled.discard?.()
      this.#noteFailure(record, messageOf(error))
      throw error
    }
    this.#recheckUsers(polled.model)
    return steps
  }

  /** An ensemble that does not fit its steps: the original's answer, without a version in it. */
  #failLoad(record: ModelRecord<V> | undefined, model: string, error: unknown): never {
    const why = messageOf(error)
    this.#log.write('error', `failed to load '${model}': ${why}`)
    if (record !== undefined) this.#noteFailure(record, why)
    throw new ConchError('INVALID_ARG', `load failed for model '${model}': ${why}\n`, { cause: error })
  }

  #noteFailure(record: ModelRecord<V>, why: string): void {
    if (record.versions.size === 0) record.pollError = why.trimEnd()
    if (record.versions.size === 0 && record.namespace === '') this.registry.forget(record)
  }

  /** Ensembles must still fit a model that was just loaded; one that does not is unloaded, with the reason kept. */
  #recheckUsers(model: string): void {
    for (const user of this.#ensembles.usersOf(model)) {
      try {
        if (user.serves && user.loaded !== undefined) this.#ensembles.check(user.loaded.config)
      } catch (error) {
        this.#log.write('error', messageOf(error))
        this.#background(this.#unload(user))
        user.pollError = messageOf(error)
      }
    }
  }

  #stepsOf(model: string, { source }: Found): readonly string[] {
    const record = this.registry.get(model, source.root)
    return record === undefined ? [] : this.#ensembles.stepsOf(record)
  }

  #isModified(model: string, found: Found): boolean {
    const record = this.registry.get(model, found.source.root)
    if (record?.loaded === undefined || !record.serves) return true
    return isModified(record.loaded.stamps, found.model.stamps)
  }

  /** Marks a model's versions UNLOADING and returns; they are gone when their last requests are answered. */
  async unload(model: string, unloadDependents: boolean): Promise<void> {
    this.#checkMode()
    const users = this.#ensembles.usersOf(model).map(({ name }) => name)
    const below = unloadDependents ? this.#ensembles.closureOf(model) : []
    await this.#turns.run([...new Set([model, ...users, ...below])], async () => {
      const steps = this.registry.named(model).flatMap((record) => this.#ensembles.stepsOf(record))
      for (const record of this.registry.named(model)) this.#unloadWithUsers(record)
      if (unloadDependents) this.#unloadSteps(steps)
      return Promise.resolve()
    })
  }

  /** What stands on a model goes with it. */
  #unloadWithUsers(record: ModelRecord<V>): void {
    for (const user of this.#ensembles.usersOf(record.name)) this.#background(this.#unload(user))
    this.#background(this.#unload(record))
  }

  /** Steps that nobody asked for by name and no other ensemble needs (repository.md §3.4). */
  #unloadSteps(names: readonly string[]): void {
    for (const record of names.flatMap((name) => this.registry.named(name))) {
      if (record.explicit || this.#ensembles.usersOf(record.name).length > 0) continue
      const below = this.#ensembles.stepsOf(record)
      this.#background(this.#unload(record))
      this.#unloadSteps(below)
    }
  }

  async #unload(record: ModelRecord<V>): Promise<void> {
    await this.#lifecycle.unload(record)
    // A model that came with a load call is in no repository: nothing is left to be listed.
    if (record.namespace === '' && !record.serves) this.registry.forget(record)
  }

  async index(readyOnly: boolean): Promise<readonly IndexEntry[]> {
    const entries: IndexEntry[] = []
    for (const [name, sources] of await this.#poller.list()) {
      if (sources.length > 1 && !this.registry.namespacing) {
        const reason = 'model appears in two or more repositories'
        entries.push({ name, version: undefined, state: 'UNAVAILABLE', reason })
        continue
      }
      for (const { root } of sources) entries.push(...this.#entriesOf(name, root, readyOnly))
    }
    return entries
  }

  #entriesOf(name: string, root: string, readyOnly: boolean): readonly IndexEntry[] {
    const record = this.registry.get(name, root)
    const known =
      record === undefined
        ? [{ name, version: undefined, state: undefined, reason: '' }]
        : this.registry.entries(record)
    return readyOnly ? known.filter(({ state }) => state === 'READY') : known
  }

  /** Whether every version that was ever touched serves, or was unloaded on purpose. */
  allReady(): boolean {
    return this.registry.all().every((record) => {
      const versions = [...record.versions.values()]
      return versions.every(({ state, reason }) => state === 'READY' || reason === 'unloaded')
    })
  }

  /** The directories a model is in; for listings. */
  find(model: string): Promise<readonly Found[]> {
    return this.#poller.find(model)
  }

  get live(): ReadonlySet<V> {
    return this.#lifecycle.live
  }

  /** No further polls and loads. */
  halt(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#lifecycle.stop()
  }

  /** Unloads everything; resolves when nothing is left. */
  async close(): Promise<void> {
    this.halt()
    await Promise.all(this.registry.all().map((record) => this.#lifecycle.unload(record)))
  }

  #checkMode(): void {
    if (this.#options.controlMode !== 'explicit') {
      throw new ConchError('UNAVAILABLE', 'explicit model load / unload is not allowed if polling is enabled')
    }
  }

  async #tryLoad(model: string): Promise<boolean> {
    try {
      await this.#loadTree(model, {})
      for (const record of this.registry.named(model)) record.explicit = true
      return true
    } catch {
      return false // Logged where it failed; the index has the reason.
    }
  }

  #pollLater(): void {
    if (this.#stopped) return
    this.#timer = setTimeout(() => {
      this.#background(this.poll().finally(() => this.#pollLater()))
    }, this.#options.pollSeconds * 1_000)
    this.#timer.unref()
  }

  /** One look at the repositories: loads what is new or changed, unloads what is gone. */
  async poll(): Promise<void> {
    const names = await this.#poller.list()
    const gone = this.registry.all().filter((record) => !this.#isPresent(record, names.get(record.name)))
    for (const record of gone) {
      if (record.serves) this.#unloadWithUsers(record)
    }
    const few = new Limit(POLLED_AT_ONCE)
    await Promise.all([...names.keys()].map((model) => few.run(() => this.#pollOne(model))))
  }

  #isPresent(record: ModelRecord<V>, roots: readonly Source[] | undefined): boolean {
    if (roots === undefined) return false
    return this.registry.namespacing ? roots.some(({ root }) => root === record.namespace) : roots.length === 1
  }

  async #pollOne(model: string): Promise<void> {
    const found = await this.#poller.find(model).catch(() => [])
    if (this.#stopped || found.some((one) => isFresh(one))) return
    await this.#tryLoad(model)
  }

  /** Work that nobody waits for; its failures are logged where they happen. */
  #background(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#log.write('error', messageOf(error)))
  }
}

/** Still being written, as far as the clock tells. */
function isFresh({ model }: Found): boolean {
  const { config, versions, other, directory } = model.stamps
  const newest = Object.values(versions).reduce((a, b) => (b > a ? b : a), config > other ? config : other)
  const age = Date.now() - Number((newest > directory ? newest : directory) / 1_000_000n)
  return age >= 0 && age < SETTLE_MS
}
