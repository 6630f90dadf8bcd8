import { ConchError } from '@conch/protocol'
import type { IndexEntry, LifecycleEvent, ServedVersion, VersionState } from './contract.ts'
import { ModelRecord } from './record.ts'
import type { VersionRecord } from './record.ts'

const UNKNOWN = 'Request for unknown model: '

/** Every model ever touched, by name; what requests are looked up in. */
export class Registry<V extends ServedVersion> {
  readonly namespacing: boolean
  /** Without namespacing each list has one entry. */
  readonly #models = new Map<string, ModelRecord<V>[]>()
  readonly #listeners = new Set<(event: LifecycleEvent) => void>()

  constructor(namespacing: boolean) {
    this.namespacing = namespacing
  }

  /** The version that answers; '' = the highest ready one. Texts: front door §2. */
  find(model: string, version: string): V {
    const record = this.#only(model)
    if (version === '') {
      if (record.latest !== undefined) return record.latest
      throw new ConchError('NOT_FOUND', `${UNKNOWN}'${model}' has no available versions`)
    }
    const known = record.versions.get(version) ?? record.versions.get(version.replace(/^0+(?=.)/, ''))
    if (known === undefined) throw new ConchError('NOT_FOUND', `${UNKNOWN}'${model}' version ${version} is not found`)
    if (known.state === 'READY' && known.serving !== undefined) return known.serving
    throw new ConchError('UNAVAILABLE', `${UNKNOWN}'${model}' version ${version} is not at ready state`)
  }

  /** Whether this very version would answer. */
  serves(model: string, version: string): boolean {
    return this.named(model).some((record) => record.versions.get(version)?.state === 'READY')
  }

  /** As `find`, but a sequence that is open goes on where it began. */
  findHolder(model: string, version: string, sequence: bigint | string | undefined): V {
    const found = this.find(model, version)
    return sequence === undefined ? found : this.holderOf(model, found, sequence)
  }

  /** Who holds an open sequence: the version that serves, or an earlier self of it. */
  holderOf(model: string, serving: V, sequence: bigint | string): V {
    if (serving.sequences === undefined || serving.sequences.has(sequence)) return serving
    for (const { versions } of this.named(model)) {
      for (const version of versions.values()) {
        if (version.serving !== serving) continue
        return version.elders.find(({ sequences }) => sequences?.has(sequence)) ?? serving
      }
    }
    return serving
  }

  /** The highest version of a model that is READY. */
  latest(model: string): V | undefined {
    return this.named(model)[0]?.latest
  }

  #only(model: string): ModelRecord<V> {
    const records = this.#models.get(model)
    const first = records?.[0]
    if (records === undefined || first === undefined || first.versions.size === 0) {
      throw new ConchError(this.namespacing ? 'INVALID_ARG' : 'NOT_FOUND', `${UNKNOWN}'${model}' is not found`)
    }
    if (records.length === 1) return first
    const many = `There are ${records.length} identifiers of model '${model}' in global map`
    throw new ConchError('INVALID_ARG', `${many}, model namespace must be provided to resolve ambiguity.`)
  }

  /** The record of a model in a repository, made when it is not known yet. */
  touch(model: string, namespace: string): ModelRecord<V> {
    const known = this.get(model, namespace)
    if (known !== undefined) return known
    const record = new ModelRecord<V>(model, namespace)
    const records = this.#models.get(model)
    if (records === undefined) this.#models.set(model, [record])
    else records.push(record)
    return record
  }

  /** Without namespacing a model is known by its name alone. */
  get(model: string, namespace: string): ModelRecord<V> | undefined {
    const records = this.#models.get(model) ?? []
    return this.namespacing ? records.find((record) => record.namespace === namespace) : records[0]
  }

  named(model: string): readonly ModelRecord<V>[] {
    return this.#models.get(model) ?? []
  }

  all(): readonly ModelRecord<V>[] {
    return [...this.#models.values()].flat()
  }

  /** A model that never had a version leaves no trace. */
  forget(record: ModelRecord<V>): void {
    const rest = (this.#models.get(record.name) ?? []).filter((other) => other !== record)
    if (rest.length === 0) this.#models.delete(record.name)
    else this.#models.set(record.name, rest)
  }

  /** Every version that is READY, by model name, then number. */
  ready(): readonly V[] {
    const records = this.all().toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    return records.flatMap((record) => record.ready().flatMap(({ serving }) => serving ?? []))
  }

  /** The versions of one model that are READY, in numeric order. */
  versionsOf(model: string): readonly V[] {
    return this.named(model).flatMap((record) => record.ready().flatMap(({ serving }) => serving ?? []))
  }

  move(record: ModelRecord<V>, version: VersionRecord<V>, to: { state: VersionState; reason: string }): void {
    version.state = to.state
    version.reason = to.reason
    record.refresh()
    this.#tell({ model: record.name, version: version.version, ...to, at: Date.now() })
  }

  /** The index entries of one model: its versions, or its name alone. */
  entries(record: ModelRecord<V>): readonly IndexEntry[] {
    const { name } = record
    if (record.versions.size === 0) {
      const failed = record.pollError !== ''
      return [{ name, version: undefined, state: failed ? 'UNAVAILABLE' : undefined, reason: record.pollError }]
    }
    return record.sorted().map(({ version, state, reason, problem }) => {
      const told = problem === '' ? record.pollError : problem
      return told === '' ? { name, version, state, reason } : { name, version, state, reason, problem: told }
    })
  }

  listen(listener: (event: LifecycleEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #tell(event: LifecycleEvent): void {
    for (const listener of this.#listeners) listener(event)
  }
}
