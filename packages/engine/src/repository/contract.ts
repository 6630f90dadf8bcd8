import type { ModelConfig, PbtxtTree } from '@conch/protocol'

/** Where models come from. */
export interface Source {
  /** As the operator wrote it, for logs; also the namespace. */
  readonly root: string
  /** Last part of the root: what clients may see. */
  readonly name: string
  /** Names of the model directories, sorted. */
  list(): Promise<readonly string[]>
  /** Whether `list` names the model; as quick with ten thousand of them as with one. */
  has(model: string): Promise<boolean>
  /** A local directory holding the model, and the change stamps that tell a reload from a no-op. */
  fetch(model: string): Promise<FetchedModel | undefined>
}

export interface FetchedModel {
  /** Real path (no symbolic links), inside the repository. */
  readonly directory: string
  /** The repository's real path: links inside the model may point anywhere below it. */
  readonly root: string
  readonly stamps: Stamps
  /** Names of the directories of a model that may be versions, unsorted; rules in versions.ts. */
  readonly folders: readonly string[]
  /** Path of the chosen config file relative to the model's directory, or undefined when there is none. */
  readonly configFile: string | undefined
}

/** Newest modification per part of a model's tree, in nanoseconds. */
export interface Stamps {
  readonly config: bigint
  readonly versions: Readonly<Record<string, bigint>>
  readonly other: bigint
  /** Of the model's directory itself: entries were added or removed. */
  readonly directory: bigint
}

export type VersionState = 'UNKNOWN' | 'READY' | 'UNAVAILABLE' | 'LOADING' | 'UNLOADING'

export interface IndexEntry {
  readonly name: string
  /** Undefined for a directory that was never loaded, or a duplicate. */
  readonly version: string | undefined
  readonly state: VersionState | undefined
  readonly reason: string
  /** What the last load of a version that still serves its older self failed with; the original does not tell. */
  readonly problem?: string
}

/** One version to be loaded. */
export interface VersionPlan {
  readonly model: string
  /** The repository as the operator wrote it; '' for a model that came with a load call. */
  readonly namespace: string
  readonly version: string
  /** As polled: normalised, not yet auto-completed from the model's files. */
  readonly config: ModelConfig
  readonly written: WrittenConfig
  readonly modelDirectory: string
  /** Files must not lie outside of it, links followed. */
  readonly root: string
  readonly versionDirectory: string
}

/** Sequences that have begun on a version and not ended. */
export interface HeldSequences {
  readonly size: number
  has(id: bigint | string): boolean
  /** Resolves when there is none, or `forgo` was called. */
  ended(): Promise<void>
  forgo(): void
}

/** A version that serves, as far as the repository must know it. */
export interface ServedVersion {
  readonly config: ModelConfig
  /** Requests taken and not yet answered. */
  readonly inflight: number
  /** Undefined for models without sequences. */
  readonly sequences?: HeldSequences | undefined
  /** Refuses new requests, waits for those in flight, releases everything. */
  stop(): Promise<void>
}

/** A model that an ensemble's step runs on; version '' = the highest ready one. */
export interface StepName {
  readonly model: string
  readonly version: string
}

/** Turns plans into served versions; the hallway's part of a load. */
export interface VersionBuilder<V extends ServedVersion> {
  build(plan: VersionPlan): Promise<V>
  /** One entry per step; empty for what is no ensemble. */
  stepsOf(config: ModelConfig): readonly StepName[]
  /** Throws when an ensemble does not fit the versions that its steps would run on now. */
  checkSteps(config: ModelConfig, steps: readonly V[]): void
  /** Changes only the instances of a served version. */
  update(served: V, change: Pick<VersionPlan, 'config' | 'written'>): Promise<void>
}

/** A config as somebody wrote it, with what is needed to point at its lines. */
export interface WrittenConfig {
  readonly config: ModelConfig
  /** Undefined for JSON and for a model without a config file. */
  readonly tree: PbtxtTree | undefined
  /** For messages: `<model>/config.pbtxt`. */
  readonly path: string
  readonly origin: 'file' | 'override' | 'none'
}

/** How configs are read; the hallway binds it to the protocol package. */
export interface ConfigReader {
  /** Throws with place, reason and fix. */
  parseText(content: Uint8Array, path: string): WrittenConfig
  /** The JSON of a load override. */
  parseJson(text: string): WrittenConfig
  /** For a model without a config file. */
  empty(): WrittenConfig
  /**
   * Fills in name, backend, platform and defaults, then throws if anything is wrong that can be seen before the model's
   * files are read. `files` are the names in the newest version's directory.
   */
  complete(written: WrittenConfig, model: string, files: readonly string[]): ModelConfig
}

/** Follows the traffic policies that lie beside the models. */
export interface TrafficReader {
  /** Takes what a model's file holds now. Throws when that is no policy: then the model is not loaded. */
  take(model: string, read: () => Promise<string | undefined>): Promise<void>
}

/** Something happened to a model version; the console's list and its log follow these. */
export interface LifecycleEvent {
  readonly model: string
  readonly version: string
  readonly state: VersionState
  readonly reason: string
  /** Milliseconds since the epoch. */
  readonly at: number
}
