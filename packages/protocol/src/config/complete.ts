import { completeInstanceGroups } from './complete-instances.ts'
import { KNOWN_BACKENDS } from './platform.ts'
import type { ModelConfig } from './schema.ts'

/** What is known about a model besides its config.pbtxt. */
export interface ModelFacts {
  readonly directoryName: string
  /** Names in the directory of the newest served version. */
  readonly versionFiles: readonly string[]
  /** Instances of a config that names none. */
  readonly preferredGroup: { readonly kind: 'KIND_CPU' | 'KIND_GPU' | 'KIND_MODEL'; readonly count: number }
  /** Ids of the GPUs that may be used. */
  readonly gpus: readonly number[]
}

/** Everything below, in the original's order. Returns a new config; nothing here fails: checkConfig complains. */
export function completeConfig(config: ModelConfig, facts: ModelFacts): ModelConfig {
  const backed = completeBackend(config, facts)
  return completeInstanceGroups(normaliseConfig(backed), facts)
}

/** Name, backend, platform and model file, from each other or from the files of the version. */
export function completeBackend(
  config: ModelConfig,
  facts: Pick<ModelFacts, 'directoryName' | 'versionFiles'>,
): ModelConfig {
  const made = structuredClone(config)
  if (made.name === '') made.name = facts.directoryName
  if (made.platform === 'ensemble') return made
  if (made.backend === '') made.backend = findBackend(made, facts.versionFiles)
  const row = findRow(made, facts.versionFiles)
  if (row !== undefined) {
    if (made.platform === '') made.platform = row.platform
    if (made.default_model_filename === '') made.default_model_filename = row.file
  }
  if (made.backend === '' && made.platform === '') completeFromName(made)
  return made
}

function findBackend(config: ModelConfig, files: readonly string[]): string {
  const { platform, default_model_filename: file } = config
  for (const row of KNOWN_BACKENDS) {
    const isNamed = (platform !== '' && row.platform === platform) || (platform === '' && row.file === file)
    const isFound = platform === '' && file === '' && files.includes(row.file)
    if (isNamed || isFound) return row.backend
  }
  return ''
}

/** The row whose platform and file fit best: what the config says, else what is there, else the backend's first. */
function findRow(config: ModelConfig, files: readonly string[]): (typeof KNOWN_BACKENDS)[number] | undefined {
  const rows = KNOWN_BACKENDS.filter((row) => row.backend === config.backend)
  if (config.platform !== '') return rows.find((row) => row.platform === config.platform) ?? rows[0]
  const file = config.default_model_filename
  return rows.find((row) => row.file === file) ?? rows.find((row) => files.includes(row.file)) ?? rows[0]
}

/** A model called `x.identity` runs on the backend `identity`. */
function completeFromName(config: ModelConfig): void {
  const dot = config.name.indexOf('.')
  if (dot < 0) return
  config.backend = config.name.slice(dot + 1)
  if (config.default_model_filename === '') config.default_model_filename = `model.${config.backend}`
}

/** Defaults that depend on nothing but the config. To be repeated after a backend has filled in its part. */
export function normaliseConfig(config: ModelConfig): ModelConfig {
  const made = structuredClone(config)
  const policy = made.version_policy
  if (policy === undefined || (policy.latest ?? policy.all ?? policy.specific) === undefined) {
    made.version_policy = { latest: { num_versions: 1 } }
  }
  normaliseScheduling(made)
  if (made.platform === 'ensemble') made.model_transaction_policy ??= { decoupled: false }
  else normaliseOptimization(made)
  return made
}

function normaliseScheduling(config: ModelConfig): void {
  const { dynamic_batching: dynamic, sequence_batching: sequence, max_batch_size: most } = config
  if (dynamic?.preferred_batch_size.length === 0 && most > 0) dynamic.preferred_batch_size = [most]
  if (sequence === undefined) return
  if (sequence.max_sequence_idle_microseconds === 0n) sequence.max_sequence_idle_microseconds = 1_000_000n
  if (sequence.oldest?.preferred_batch_size.length === 0 && most > 0) sequence.oldest.preferred_batch_size = [most]
}

function normaliseOptimization(config: ModelConfig): void {
  config.optimization ??= { priority: 'PRIORITY_DEFAULT', gather_kernel_buffer_threshold: 0, eager_batching: false }
  config.optimization.input_pinned_memory ??= { enable: true }
  config.optimization.output_pinned_memory ??= { enable: true }
}
