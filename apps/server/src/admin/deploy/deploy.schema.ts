import { z } from 'zod'
import {
  configTextSchema,
  modelNameSchema,
  versionSchema,
  type ConfigProblem,
  type EffectiveValue,
  type FileRow,
  type PythonFailure,
  type StateChange,
} from '../model.schema.ts'

/** What the console itself names: no surprises in a shell, a URL or a metric label. */
export const newModelNameSchema = z
  .string()
  .regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/, 'Letters, digits, _ . - (not first), 128 at most')
export const uploadIdSchema = z.string().regex(/^[0-9a-f]{32}$/, 'Not an upload')
/** One upload (an .onnx file or a .zip), or the uploads of a folder, each with its path inside it. */
export const inspectSchema = z.union([
  z.strictObject({ uploadId: uploadIdSchema }),
  z.strictObject({
    files: z
      .array(z.strictObject({ uploadId: uploadIdSchema, path: z.string().min(1).max(1024) }))
      .min(1)
      .max(2000),
  }),
])
export const checkSchema = z.strictObject({
  model: z.string().max(255),
  configText: configTextSchema,
  /** The `id` that `deploy.inspect` gave: checks can then look at the files. */
  uploadId: uploadIdSchema.optional(),
})
export const publishSchema = z.strictObject({
  /** The `id` that `deploy.inspect` gave. */
  uploadId: uploadIdSchema,
  model: newModelNameSchema,
  version: z.union([z.literal('next'), z.int().min(1).max(Number.MAX_SAFE_INTEGER)]),
  configText: configTextSchema,
  load: z.boolean(),
  /** False keeps the model's present config.pbtxt, if it has one. */
  overwriteConfig: z.boolean(),
  /** Index into `ServerInfo.repositories`; the first writable one when left out. */
  repository: z.int().min(0).max(1000).optional(),
})
export const discardSchema = z.strictObject({ uploadId: uploadIdSchema })

const sourceSchema = z.string().max(1_048_576, 'At most 1 MiB')
const requirementsSchema = z.string().max(65_536, 'At most 64 KiB')
const tensorNamesSchema = z.array(z.string().max(1024)).max(1000)
export const checkPythonSchema = z.strictObject({
  code: sourceSchema,
  requirements: requirementsSchema.default(''),
  /** Of the config: names in the source are held against them. Empty = unknown. */
  inputs: tensorNamesSchema.default([]),
  outputs: tensorNamesSchema.default([]),
  /** A version whose other files will lie beside the source. */
  model: modelNameSchema.optional(),
  basedOn: versionSchema.optional(),
})
export const publishPythonSchema = z.strictObject({
  model: newModelNameSchema,
  code: sourceSchema,
  /** Text of a requirements.txt; empty = none. */
  requirements: requirementsSchema.default(''),
  configText: configTextSchema,
  load: z.boolean(),
  overwriteConfig: z.boolean(),
  /** The version whose other files the new one gets too. */
  basedOn: versionSchema.optional(),
})

export interface SignatureTensor {
  readonly name: string
  readonly datatype: string
  /** -1 = any; a name is shown for symbolic dimensions. */
  readonly shape: readonly number[]
  readonly dims: readonly string[]
}
export interface Signature {
  readonly inputs: readonly SignatureTensor[]
  readonly outputs: readonly SignatureTensor[]
  /** Domain → version, '' is the standard one. */
  readonly opsets: readonly { readonly domain: string; readonly version: number }[]
  readonly producer: string
  readonly irVersion: number
  /** Bytes of the file. */
  readonly size: number
  /** Number of weights, when known. */
  readonly parameters: number | null
}

export interface Inspection {
  /** Names the staged files in check, publish and discard. */
  readonly id: string
  readonly kind: 'onnx' | 'folder' | 'zip'
  readonly signature: Signature | null
  readonly suggestedName: string
  /** Relative to the model's directory. */
  readonly files: readonly FileRow[]
  /** Text of a config.pbtxt: the uploaded one, else a proposal with comments. */
  readonly proposedConfig: string
  readonly problems: readonly ConfigProblem[]
  /** Files that run code when loaded and the like: to be read by a person. */
  readonly warnings: readonly string[]
}

export interface CheckResult {
  readonly problems: readonly ConfigProblem[]
  readonly effective: readonly EffectiveValue[]
}

export interface PythonCheck {
  /** Version of the server's Python; null when there is none, which `note` explains. */
  readonly python: string | null
  readonly problems: readonly ConfigProblem[]
  readonly note: string | null
}

export interface Published extends StateChange {
  readonly model: string
  readonly version: string
  /** Where the model's own code failed while it was loaded. */
  readonly failure?: PythonFailure
}
