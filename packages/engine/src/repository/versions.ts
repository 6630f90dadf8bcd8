import type { ModelConfig, ModelVersionPolicy } from '@conch/protocol'
import type { Log } from '../observe/contract.ts'

/** Directories of a model that are never versions and need no warning. */
const RESERVED = new Set(['warmup', 'initial_state', 'configs'])
const INT64_MAX = 9223372036854775807n

/**
 * Whether a directory name is a version: `0` or digits without a leading zero, within int64. The original also takes
 * `3abc` as 3 and negative numbers, and ends on more than 19 digits.
 */
export function isVersion(name: string): boolean {
  return /^(0|[1-9][0-9]{0,18})$/.test(name) && BigInt(name) <= INT64_MAX
}

/** Numeric order of decimal texts without leading zeros. */
export function compareVersions(a: string, b: string): number {
  return a.length === b.length ? (a < b ? -1 : a > b ? 1 : 0) : a.length - b.length
}

/** Says once per model and name which directories are ignored. */
export class VersionScanner {
  readonly #log: Log
  readonly #warned = new Set<string>()

  constructor(log: Log) {
    this.#log = log
  }

  /** The versions among a model's directories, in numeric order. */
  scan(model: string, folders: readonly string[]): readonly string[] {
    const versions: string[] = []
    for (const name of folders) {
      if (isVersion(name)) versions.push(name)
      else if (!RESERVED.has(name)) this.#warn(model, name)
    }
    return versions.toSorted(compareVersions)
  }

  #warn(model: string, name: string): void {
    const key = `${model}/${name}`
    if (this.#warned.has(key) || this.#warned.size > 10_000) return
    this.#warned.add(key)
    const zeros = /^0[0-9]/.test(name)
    const why = zeros ? 'contains leading zeros in its directory name' : 'fails to convert to integral number'
    this.#log.write('warning', `ignore version directory '${name}' which ${why}`)
  }
}

/** Which of the versions on disk are to be served, in numeric order. */
export function pickVersions(policy: ModelVersionPolicy | undefined, present: readonly string[]): readonly string[] {
  if (policy?.all !== undefined) return present
  const specific = policy?.specific
  if (specific !== undefined) {
    const wanted = new Set(specific.versions.map(String))
    return present.filter((version) => wanted.has(version))
  }
  const count = policy?.latest?.num_versions ?? 1
  return count === 0 ? [] : present.slice(-count)
}

/** Versions that the policy names and that are not on disk. */
export function missingVersions(config: ModelConfig, present: readonly string[]): readonly string[] {
  const wanted = config.version_policy?.specific?.versions ?? []
  return wanted.map(String).filter((version) => !present.includes(version))
}
