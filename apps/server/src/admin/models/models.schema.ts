import { z } from 'zod'
import {
  modelNameSchema,
  versionSchema,
  type ConfigProblem,
  type EffectiveValue,
  type FileRow,
  type JsonValue,
  type PythonFailure,
  type VersionState,
} from '../model.schema.ts'

const model = z.strictObject({ model: modelNameSchema })

export const getModelSchema = z.strictObject({ model: modelNameSchema, version: versionSchema.optional() })
export const loadModelSchema = model
export const instancesSchema = model
export const unloadModelSchema = z.strictObject({ model: modelNameSchema, dependents: z.boolean().default(false) })
export const removeModelSchema = model
export const deleteVersionSchema = z.strictObject({ model: modelNameSchema, version: versionSchema })
export const modelFileSchema = z.strictObject({ model: modelNameSchema, path: z.string().min(1).max(1024) })

export interface VersionRow {
  readonly version: string
  readonly state: VersionState
  readonly reason: string
}

export type Batching = 'none' | 'dynamic' | 'sequence' | 'ensemble'

export interface ModelRow {
  readonly name: string
  /** READY when any version is; else the state of the newest one; UNKNOWN when it was never loaded. */
  readonly state: VersionState
  readonly reason: string
  readonly versions: readonly VersionRow[]
  readonly backend: string
  readonly platform: string
  readonly maxBatchSize: number
  readonly batching: Batching
  readonly instances: number
  /** Where instances run: `CPU`, `GPU`, `CPU + GPU`, `MODEL` or ''. */
  readonly kind: string
  /** The next three cover the last 60 seconds. */
  readonly rps: number
  readonly p95Us: number | null
  /** 0 … 1. */
  readonly errorRate: number
  /** Requests answered since the server started. */
  readonly requests: number
}

export interface VersionFailure extends PythonFailure {
  readonly version: string
}

export interface TensorRow {
  readonly name: string
  readonly datatype: string
  readonly shape: readonly number[]
}

export interface ModelDetails {
  readonly name: string
  readonly state: VersionState
  readonly reason: string
  readonly versions: readonly VersionRow[]
  /** Where the code of a version failed when it was loaded, newest version first. */
  readonly failures: readonly VersionFailure[]
  /** Null while no version is ready. */
  readonly metadata: {
    readonly platform: string
    readonly inputs: readonly TensorRow[]
    readonly outputs: readonly TensorRow[]
  } | null
  /** As `GET /v2/models/<model>/config` means it; 64-bit numbers are decimal strings. Null while nothing is ready. */
  readonly config: JsonValue
  readonly effective: readonly EffectiveValue[]
  /** The text of config.pbtxt, null when the model has none. */
  readonly configText: string | null
  /** Changes when the text does; `config.save` wants it back. '' when there is no file. */
  readonly configHash: string
  readonly problems: readonly ConfigProblem[]
  readonly files: readonly FileRow[]
  /** Per ready version, as `GET /v2/models/<model>/stats` shows it. */
  readonly statistics: JsonValue
  /** Output → labels. */
  readonly labels: { readonly [output: string]: readonly string[] }
  readonly samples: readonly { readonly name: string; readonly path: string }[]
  readonly readme: string | null
  /** The repository accepts changes from here. */
  readonly writable: boolean
  /** Display name of the repository it lives in. */
  readonly repository: string
}

export interface InstanceRow {
  readonly version: string
  readonly name: string
  /** False while its process is down: it gets no work. */
  readonly healthy: boolean
  /** Null for an instance inside the server's own process. */
  readonly process: {
    readonly pid: number
    readonly restarts: number
    /** Why the process before this one ended. */
    readonly lastExit: string | null
    /** Since it started. */
    readonly cpuSeconds: number | null
    readonly residentBytes: number | null
  } | null
}
export interface InstancesNow {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly instances: readonly InstanceRow[]
}

export interface ModelEvent {
  readonly model: string
  readonly version: string
  readonly state: VersionState
  readonly reason: string
  /** Milliseconds since the epoch. */
  readonly at: number
}
