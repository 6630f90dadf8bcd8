import { ConchError } from '@conch/protocol'
import type { Log } from '../observe/contract.ts'
import { isInPlace } from './changes.ts'
import type { ServedVersion, VersionBuilder } from './contract.ts'
import type { Polled } from './polled.ts'
import { printReason } from './reason.ts'
import type { ModelRecord, VersionRecord } from './record.ts'
import type { Registry } from './registry.ts'
import type { Limit } from './turns.ts'

const OUTDATED = 'Newer operation has been applied to the model lifecycle, current load operation is out-dated.'

export interface LifecycleParts<V extends ServedVersion> {
  readonly registry: Registry<V>
  readonly builder: VersionBuilder<V>
  readonly log: Log
  readonly limit: Limit
  /** Further attempts after a failed load of a version. */
  readonly retries: number
}

/** Earlier selves of a version that are kept for their sequences; those of the oldest end early. */
const MAX_ELDERS = 4

/** How the load of one version went. `fresh` is what must replace the serving one; undefined = updated in place. */
type Attempt<V extends ServedVersion> =
  | { readonly version: VersionRecord<V>; readonly fresh: V | undefined }
  | { readonly version: VersionRecord<V>; readonly error: unknown }

/**
 * UNKNOWN → LOADING → READY → UNLOADING → UNAVAILABLE. New versions are built beside the old ones and take over together,
 * or not at all. Callers serialise operations on one model.
 */
export class Lifecycle<V extends ServedVersion> {
  readonly #parts: LifecycleParts<V>
  /** Everything that holds memory: serving, being drained, or waiting for its siblings. */
  readonly live = new Set<V>()
  #stopped = false

  constructor(parts: LifecycleParts<V>) {
    this.#parts = parts
  }

  /** Throws the original's text when any version failed; what served before then serves on. */
  async load(record: ModelRecord<V>, polled: Polled): Promise<void> {
    const { log } = this.#parts
    const model = record.name
    if (polled.versions.length === 0) {
      log.write('info', `failed to load '${model}': it needs a version directory such as ${model}/1`)
      const rule = `at least one version must be available under the version policy of model '${model}'`
      throw new ConchError('INVALID_ARG', `load failed for model '${model}': ${rule}\n`)
    }
    const attempts = await Promise.all(polled.versions.map((version) => this.#attempt(record, polled, version)))
    const failed = attempts.filter((attempt) => 'error' in attempt)
    if (failed.length > 0) {
      await this.#revert(record, attempts)
      log.write('info', `failed to load '${model}'`)
      throw new ConchError('INVALID_ARG', describeFailures(model, failed))
    }
    this.#swap(record, polled, attempts)
    log.write('info', `successfully loaded '${model}'`)
  }

  async #attempt(record: ModelRecord<V>, polled: Polled, version: string): Promise<Attempt<V>> {
    const { registry, log, limit } = this.#parts
    const known = record.version(version)
    log.write('info', `loading: ${record.name}:${version}`)
    if (known.serving === undefined) registry.move(record, known, { state: 'LOADING', reason: '' })
    try {
      return { version: known, fresh: await limit.run(() => this.#build(record, polled, known)) }
    } catch (cause) {
      const error = hideRoot(cause, polled)
      log.write('error', `failed to load '${record.name}' version ${version}: ${printReason(error)}`)
      return { version: known, error }
    }
  }

  async #build(record: ModelRecord<V>, polled: Polled, known: VersionRecord<V>): Promise<V | undefined> {
    const { builder, retries } = this.#parts
    const { version, serving } = known
    if (serving !== undefined && record.loaded !== undefined && isInPlace(record.loaded, polled, version)) {
      await builder.update(serving, polled)
      return undefined
    }
    const plan = {
      model: record.name,
      namespace: polled.namespace,
      version,
      config: polled.config,
      written: polled.written,
      modelDirectory: polled.directory,
      root: polled.root,
      versionDirectory: `${polled.directory}/${version}`,
    }
    for (let attempt = 0; ; attempt++) {
      if (this.#stopped) throw new ConchError('UNAVAILABLE', OUTDATED)
      try {
        return await this.#keep(await builder.build(plan))
      } catch (error) {
        if (attempt >= retries || this.#stopped) throw error
      }
    }
  }

  async #keep(fresh: V): Promise<V> {
    if (!this.#stopped) {
      this.live.add(fresh)
      return fresh
    }
    await fresh.stop()
    throw new ConchError('UNAVAILABLE', OUTDATED)
  }

  /** One failed: nothing new is kept, what served serves on. */
  async #revert(record: ModelRecord<V>, attempts: readonly Attempt<V>[]): Promise<void> {
    const { registry } = this.#parts
    for (const attempt of attempts) {
      const { version } = attempt
      if (!('error' in attempt) && attempt.fresh !== undefined) await this.#release(attempt.fresh)
      const reason = 'error' in attempt ? printReason(attempt.error) : ''
      if (version.serving !== undefined) version.problem = reason
      else registry.move(record, version, { state: 'UNAVAILABLE', reason: reason === '' ? 'unloaded' : reason })
    }
  }

  #swap(record: ModelRecord<V>, polled: Polled, attempts: readonly Attempt<V>[]): void {
    const { registry } = this.#parts
    const drained: Promise<void>[] = []
    for (const attempt of attempts) {
      if ('error' in attempt) continue
      const { version, fresh } = attempt
      version.problem = ''
      if (fresh === undefined) continue
      const old = version.serving
      version.serving = fresh
      registry.move(record, version, { state: 'READY', reason: '' })
      if (old !== undefined) drained.push(this.#succeed(version, old))
    }
    for (const version of record.ready()) {
      if (!polled.versions.includes(version.version)) drained.push(this.#retire(record, version))
    }
    void this.#replaceDirectory(record, polled.discard, drained)
    record.loaded = { stamps: polled.stamps, config: polled.config }
    record.pollError = ''
  }

  /** Starts to unload every version of a model; resolves when the last one is gone. */
  unload(record: ModelRecord<V>): Promise<void> {
    const { registry } = this.#parts
    record.loaded = undefined
    record.explicit = false
    record.pollError = ''
    const drained: Promise<void>[] = []
    for (const version of record.sorted()) {
      for (const elder of version.elders) elder.sequences?.forgo()
      if (version.serving !== undefined) drained.push(this.#retire(record, version))
      else if (version.state === 'UNAVAILABLE') {
        registry.move(record, version, { state: 'UNAVAILABLE', reason: 'unloaded' })
      }
    }
    return this.#replaceDirectory(record, undefined, drained)
  }

  /** From here on every load is out-dated, also those under way. */
  stop(): void {
    this.#stopped = true
  }

  async #retire(record: ModelRecord<V>, version: VersionRecord<V>): Promise<void> {
    const { registry, log } = this.#parts
    const old = version.serving
    if (old === undefined) return
    version.serving = undefined
    version.problem = ''
    version.draining += 1
    registry.move(record, version, { state: 'UNLOADING', reason: '' })
    await this.#release(old)
    version.draining -= 1
    log.write('info', `successfully unloaded '${record.name}' version ${version.version}`)
    if (version.state === 'UNLOADING' && version.draining === 0) {
      registry.move(record, version, { state: 'UNAVAILABLE', reason: 'unloaded' })
    }
  }

  /** Sequences stay on the self they began on: another one knows nothing of their state. */
  async #succeed(version: VersionRecord<V>, old: V): Promise<void> {
    const { sequences } = old
    if (sequences !== undefined && sequences.size > 0 && !this.#stopped) {
      version.elders = [...version.elders, old]
      const extra = version.elders.slice(0, -MAX_ELDERS)
      for (const elder of extra) elder.sequences?.forgo()
      await sequences.ended()
      version.elders = version.elders.filter((elder) => elder !== old)
    }
    await this.#release(old)
  }

  async #release(old: V): Promise<void> {
    try {
      await old.stop()
    } catch (error) {
      this.#parts.log.write('error', `failed to release a model version: ${printReason(error)}`)
    } finally {
      this.live.delete(old)
    }
  }

  /** The private directory of a load with files lives as long as what was loaded from it. */
  async #replaceDirectory(
    record: ModelRecord<V>,
    discard: (() => Promise<void>) | undefined,
    drained: readonly Promise<void>[],
  ): Promise<void> {
    const old = record.discard
    record.discard = discard
    await Promise.all(drained)
    try {
      await old?.()
    } catch (error) {
      this.#parts.log.write('warning', `failed to remove the files of '${record.name}': ${printReason(error)}`)
    }
  }
}

/** Errors of libraries carry the server's paths; what goes to clients names the model instead. */
function hideRoot(error: unknown, { directory, model }: Polled): unknown {
  if (!(error instanceof Error) || !error.message.includes(directory)) return error
  const code = error instanceof ConchError ? error.code : 'INTERNAL'
  return new ConchError(code, error.message.replaceAll(directory, model), { cause: error })
}

function describeFailures<V extends ServedVersion>(
  model: string,
  failed: readonly { readonly version: VersionRecord<V>; readonly error: unknown }[],
): string {
  const clauses = failed.map(
    ({ version, error }) => `version ${version.version} is at UNAVAILABLE state: ${printReason(error)};\n`,
  )
  return `load failed for model '${model}': ${clauses.join('')}`
}
