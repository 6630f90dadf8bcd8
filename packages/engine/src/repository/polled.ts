import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ConchError } from '@conch/protocol'
import type { ModelConfig } from '@conch/protocol'
import type { Log } from '../observe/contract.ts'
import { resolveInside } from './contain.ts'
import type { ConfigReader, FetchedModel, Source, Stamps, WrittenConfig } from './contract.ts'
import { explainIo } from './explain-io.ts'
import { missingVersions, pickVersions, VersionScanner } from './versions.ts'

/** A config file longer than this is none. */
const MAX_CONFIG_BYTES = 4 * 1024 * 1024

/** A model as it was found, ready to be compared with what serves and to be loaded. */
export interface Polled {
  readonly model: string
  readonly namespace: string
  readonly directory: string
  readonly root: string
  readonly stamps: Stamps
  readonly config: ModelConfig
  readonly written: WrittenConfig
  /** To be served, in numeric order. */
  readonly versions: readonly string[]
  /** Set for a private directory: removes it. */
  readonly discard: (() => Promise<void>) | undefined
}

/** Where one model was found. */
export interface Found {
  readonly source: Source
  readonly model: FetchedModel
}

export interface PollerParts {
  readonly sources: readonly Source[]
  readonly configs: ConfigReader
  readonly log: Log
}

/** Reads models from the repositories: everything that happens before a backend is asked. */
export class Poller {
  readonly #parts: PollerParts
  readonly #scanner: VersionScanner

  constructor(parts: PollerParts) {
    this.#parts = parts
    this.#scanner = new VersionScanner(parts.log)
  }

  /** Model names → the repositories that hold them, by name. */
  async list(): Promise<ReadonlyMap<string, readonly Source[]>> {
    const names = new Map<string, Source[]>()
    for (const source of this.#parts.sources) {
      for (const name of await source.list()) names.set(name, [...(names.get(name) ?? []), source])
    }
    return new Map([...names].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }

  /** The repositories that hold the model, whether or not it can be read. */
  async holders(model: string): Promise<readonly Source[]> {
    const { sources } = this.#parts
    const holds = await Promise.all(sources.map((source) => source.has(model)))
    return sources.filter((_, i) => holds[i])
  }

  /** Every repository that holds the model. */
  async find(model: string): Promise<readonly Found[]> {
    const found: Found[] = []
    for (const source of this.#parts.sources) {
      const fetched = await source.fetch(model)
      if (fetched !== undefined) found.push({ source, model: fetched })
    }
    return found
  }

  /** Reads config and versions of a model that was found. `override` replaces its config file. */
  async read(model: string, found: Found, override?: string): Promise<Polled> {
    const { directory, root, stamps, folders } = found.model
    const written = override === undefined ? await this.#readFile(model, found.model) : this.parseOverride(override)
    const present = this.#scanner.scan(model, folders)
    const config = await this.#complete(model, written, { directory, present })
    return {
      model,
      namespace: found.source.root,
      directory,
      root,
      stamps: override === undefined ? stamps : { ...stamps, config: BigInt(Date.now()) * 1_000_000n },
      config,
      written,
      versions: pickVersions(config.version_policy, present),
      discard: undefined,
    }
  }

  parseOverride(json: string): WrittenConfig {
    try {
      return this.#parts.configs.parseJson(json)
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      const text = why.startsWith('Invalid config override') ? why : `Invalid config override: ${why}`
      throw new ConchError('INVALID_ARG', text, { cause })
    }
  }

  /** Config and versions of a directory whose only files were sent with the load call. */
  async readPrivate(model: string, config: string, directory: string): Promise<Polled> {
    const entries = await readdir(directory, { withFileTypes: true })
    const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
    const present = this.#scanner.scan(model, folders)
    const written = this.parseOverride(config)
    const completed = await this.#complete(model, written, { directory, present })
    // Whatever was sent before: these files are others.
    const now = nextStamp()
    const stamps: Stamps = {
      config: now,
      versions: Object.fromEntries(present.map((version) => [version, now])),
      other: now,
      directory: now,
    }
    const versions = pickVersions(completed.version_policy, present)
    const where = { model, namespace: '', directory, root: directory }
    return { ...where, stamps, config: completed, written, versions, discard: undefined }
  }

  async #readFile(model: string, fetched: FetchedModel): Promise<WrittenConfig> {
    if (fetched.configFile === undefined) return this.#parts.configs.empty()
    const path = `${model}/${fetched.configFile}`
    let content: Uint8Array
    try {
      const real = await resolveInside(fetched.root, fetched.directory, fetched.configFile)
      const { size } = await stat(real)
      if (size > MAX_CONFIG_BYTES)
        throw new ConchError('INVALID_ARG', `${path} has ${size} bytes, at most 4 MiB are read`)
      content = await readFile(real)
    } catch (cause) {
      throw cause instanceof ConchError ? cause : explainIo(cause, 'open text file for read', path)
    }
    return this.#parts.configs.parseText(content, path)
  }

  async #complete(
    model: string,
    written: WrittenConfig,
    at: { directory: string; present: readonly string[] },
  ): Promise<ModelConfig> {
    const { configs, log } = this.#parts
    const newest = pickVersions(written.config.version_policy, at.present).at(-1) ?? at.present.at(-1)
    const files = newest === undefined ? [] : await readFolder(at.directory, newest)
    const config = configs.complete(written, model, files)
    for (const version of missingVersions(config, at.present)) {
      log.write(
        'error',
        `version ${version} is specified for model '${model}', but the version directory is not present`,
      )
    }
    return config
  }
}

let lastStamp = 0n

/** Nanoseconds, and later than every one before. */
function nextStamp(): bigint {
  const now = BigInt(Date.now()) * 1_000_000n
  lastStamp = now > lastStamp ? now : lastStamp + 1n
  return lastStamp
}

async function readFolder(directory: string, name: string): Promise<readonly string[]> {
  try {
    return await readdir(join(directory, name))
  } catch (cause) {
    throw explainIo(cause, 'open directory', name)
  }
}
