import type { Loaded } from './changes.ts'
import type { ServedVersion, VersionState } from './contract.ts'
import { compareVersions } from './versions.ts'

/** What is known of one version. `serving` may be set while a newer self is being loaded beside it. */
export interface VersionRecord<V extends ServedVersion> {
  readonly version: string
  state: VersionState
  reason: string
  /** Why the last load failed while the older self goes on serving. */
  problem: string
  serving: V | undefined
  /** Earlier selves that still answer their last requests. */
  draining: number
  /** Those that were replaced while sequences ran on them, the newest last: they keep these until they end. */
  elders: readonly V[]
}

/** What is known of one model. Versions stay listed after they were unloaded. */
export class ModelRecord<V extends ServedVersion> {
  readonly name: string
  /** Printable repository root; part of the identity when namespacing is on. */
  readonly namespace: string
  readonly versions = new Map<string, VersionRecord<V>>()
  /** What the serving versions were loaded from; undefined = a load will do everything. */
  loaded: Loaded | undefined = undefined
  /** Named by a load call or flag, not only pulled in by an ensemble. */
  explicit = false
  /** Why it could not even be read the last time. */
  pollError = ''
  /** Removes the private directory of a load with files. */
  discard: (() => Promise<void>) | undefined = undefined
  /** The highest version that is READY. */
  latest: V | undefined = undefined

  constructor(name: string, namespace: string) {
    this.name = name
    this.namespace = namespace
  }

  version(version: string): VersionRecord<V> {
    const known = this.versions.get(version)
    if (known !== undefined) return known
    const fresh: VersionRecord<V> = {
      version,
      state: 'UNKNOWN',
      reason: '',
      problem: '',
      serving: undefined,
      draining: 0,
      elders: [],
    }
    this.versions.set(version, fresh)
    return fresh
  }

  /** In numeric order. */
  sorted(): readonly VersionRecord<V>[] {
    return [...this.versions.values()].toSorted((a, b) => compareVersions(a.version, b.version))
  }

  ready(): readonly VersionRecord<V>[] {
    return this.sorted().filter((record) => record.state === 'READY')
  }

  get serves(): boolean {
    return this.latest !== undefined
  }

  /** To be called after every change of a state. */
  refresh(): void {
    this.latest = this.ready().at(-1)?.serving
  }
}
