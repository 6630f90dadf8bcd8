import { ConchError } from '@conch/protocol'
import type { Log } from '../observe/contract.ts'
import { isModified } from './changes.ts'
import { isSegment, printPath } from './contain.ts'
import type { ConfigReader, IndexEntry, ServedVersion, Source, VersionBuilder } from './contract.ts'
import { Lifecycle } from './lifecycle.ts'
import { writePrivateDirectory } from './override.ts'
import { Poller } from './polled.ts'
import type { Found, Polled } from './polled.ts'
import { messageOf } from './reason.ts'
import type { ModelRecord } from './record.ts'
import { Registry } from './registry.ts'
import { Limit, Turns } from './turns.ts'

/** A model whose files changed less than this ago is still being written: it is looked at again with the next poll. */
const SETTLE_MS = 1_000

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
  readonly #lifecycle: Lifecycle<V>
  readonly #turns = new Turns()
  #timer: NodeJS.Timeout | undefined = undefined
  #stopped = false

  constructor(options: RepositoryOptions, parts: RepositoryParts<V>) {
    const { builder, log } = parts
    this.registry = new Registry<V>(options.namespacing)
    this.#options = options
    this.#log = log
    this.#poller = new Poller(parts)
    const limit = new Limit(options.loadThreads)
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
    await this.#turns.run([model], () => this.#load(model, override))
    for (const record of this.registry.named(model)) record.explicit = true
  }

  async #load(model: string, override: Override): Promise<void> {
    const { config, files } = override
    if (files !== undefined && files.size > 0) {
      await this.#apply(await this.#polling(model, () => this.#readFiles(model, config, files)))
      return
    }
    const found = await this.#polling(model, () => this.#find(model))
    for (const one of found) {
      if (config === undefined && !this.#isModified(model, one)) continue
      await this.#apply(await this.#polling(model, () => this.#poller.read(model, one, config)))
    }
  }

  async #apply(polled: Polled): Promise<void> {
    const record = this.registry.touch(polled.model, polled.namespace)
    try {
      await this.#lifecycle.load(record, polled)
    } catch (error) {
      await polled.discard?.()
      if (record.versions.size === 0) record.pollError = messageOf(error).trimEnd()
      if (record.versions.size === 0 && polled.namespace === '') this.registry.forget(record)
      throw error
    }
  }

  #isModified(model: string, found: Found): boolean {
    const record = this.registry.get(model, found.source.root)
    if (record?.loaded === undefined || !record.serves) return true
    return isModified(record.loaded.stamps, found.model.stamps)
  }

  async #find(model: string): Promise<readonly Found[]> {
    const found = await this.#poller.find(model)
    if (found.length === 0) {
      throw new ConchError('NOT_FOUND', `failed to poll model '${model}': model not found in any model repository.`)
    }
    if (found.length === 1 || this.registry.namespacing) return found
    const where = found.map(({ source }) => source.name).join(', ')
    const text = `failed to poll model '${model}': not unique across all model repositories`
    throw new ConchError('ALREADY_EXISTS', `${text} (${where})`)
  }

  async #readFiles(model: string, config: string | undefined, files: ReadonlyMap<string, Uint8Array>): Promise<Polled> {
    if (config === undefined) {
      throw new ConchError('INVALID_ARG', "Load parameter 'config' must be specified for model file override")
    }
    const { directory, discard } = await writePrivateDirectory(files)
    try {
      return { ...(await this.#poller.readPrivate(model, config, directory)), discard }
    } catch (error) {
      await discard()
      throw error
    }
  }

  /** Reading a model: the original's log lines and its one answer, with the reason behind it. */
  async #polling<T>(model: string, read: () => Promise<T>): Promise<T> {
    try {
      return await read()
    } catch (cause) {
      const why = messageOf(cause)
      if (await this.#blame(model, why)) {
        const text = why.startsWith('failed to poll') ? why : `Poll failed for model directory '${model}': ${why}`
        this.#log.write('error', text)
      }
      const text = `failed to load '${model}', failed to poll from model repository: ${why}`
      throw new ConchError('INTERNAL', text, { cause })
    }
  }

  /** Notes why a model could not be read. Returns whether that is worth a log line: once per reason while polling. */
  async #blame(model: string, why: string): Promise<boolean> {
    let fresh = this.#options.controlMode !== 'poll'
    const roots = (await this.#poller.list()).get(model) ?? []
    const records =
      roots.length === 1 || this.registry.namespacing ? roots.map(({ root }) => this.registry.touch(model, root)) : []
    for (const record of records) {
      if (record.pollError !== why) fresh = true
      record.pollError = why
    }
    return fresh || records.length === 0
  }

  /** Marks a model's versions UNLOADING and returns; they are gone when their last requests are answered. */
  async unload(model: string, _unloadDependents: boolean): Promise<void> {
    this.#checkMode()
    await this.#turns.run([model], async () => {
      for (const record of this.registry.named(model)) this.#background(this.#unload(record))
    })
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
      await this.#turns.run([model], () => this.#load(model, {}))
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
      if (record.serves) this.#background(this.#lifecycle.unload(record))
    }
    await Promise.all([...names.keys()].map((model) => this.#pollOne(model)))
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

/** Front door §5.2: names are names, not paths. */
function checkName(model: string): void {
  if (model.trim() === '') {
    throw new ConchError('INVALID_ARG', 'Model name cannot be empty. Please enter a valid name to deploy.')
  }
  if (!isSegment(model)) {
    const rule = 'model name must not contain path traversal characters'
    throw new ConchError('INVALID_ARG', `invalid model name '${printPath(model)}', ${rule}`)
  }
}
