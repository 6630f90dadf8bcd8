import { isDeepStrictEqual } from 'node:util'
import type { ModelConfig } from '@conch/protocol'
import type { Stamps } from './contract.ts'

/** Whether anything below the model's directory became newer, appeared or went (lifecycle §3). */
export function isModified(before: Stamps, now: Stamps): boolean {
  return now.config > before.config || now.directory > before.directory || isFilesModified(before, now)
}

/** The same without the config file and the directory's own stamp: what rules out an in-place update. */
function isFilesModified(before: Stamps, now: Stamps): boolean {
  if (now.other > before.other) return true
  const versions = new Set([...Object.keys(before.versions), ...Object.keys(now.versions)])
  for (const version of versions) {
    if (now.versions[version] !== before.versions[version]) return true
  }
  return false
}

/** What is compared to decide between an in-place update of the instances and a full load. */
export interface Loaded {
  readonly stamps: Stamps
  /** As polled, before auto-complete. */
  readonly config: ModelConfig
}

/**
 * Whether a version that serves can take the new config by changing its instances alone: no file of it changed and the
 * configs differ in `instance_group` and `version_policy` only (repository.md §4.2).
 */
export function isInPlace(before: Loaded, now: Loaded, version: string): boolean {
  if (now.stamps.other > before.stamps.other) return false
  if (now.stamps.versions[version] !== before.stamps.versions[version]) return false
  if (now.config.platform === 'ensemble') return false
  return isDeepStrictEqual(withoutInstances(before.config), withoutInstances(now.config))
}

function withoutInstances(config: ModelConfig): ModelConfig {
  return { ...config, instance_group: [], version_policy: undefined }
}
