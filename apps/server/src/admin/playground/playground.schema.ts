import { z } from 'zod'
import { modelNameSchema, versionOrLabelSchema, type PythonFailure } from '../model.schema.ts'

export const exampleSchema = z.strictObject({ model: modelNameSchema, version: versionOrLabelSchema.optional() })
export const inferSchema = z.strictObject({
  model: modelNameSchema,
  version: versionOrLabelSchema.optional(),
  /** JSON text of a KServe v2 request body, not parsed by the browser: numbers stay exact. */
  request: z.string().max(33_554_432, 'At most 32 MiB'),
})

/** Through the socket, which takes small messages only. */
export const streamSchema = z.strictObject({
  ...inferSchema.shape,
  request: z.string().max(786_432, 'At most 768 KiB for a model that answers bit by bit'),
})

/** Microseconds of one request's stages. */
export interface StageTimes {
  readonly queueUs: number
  readonly inputUs: number
  readonly inferUs: number
  readonly outputUs: number
  readonly totalUs: number
}

export interface OutputView {
  readonly name: string
  readonly datatype: string
  readonly shape: readonly number[]
  /** Null for BYTES and for empty outputs. Exact decimal texts, NaN excluded from min, max and mean. */
  readonly stats: {
    readonly min: string
    readonly max: string
    readonly mean: string
    readonly nan: number
    readonly zero: number
  } | null
  /** The first 1000 elements, row-major. */
  readonly preview: readonly string[]
  readonly count: number
  /** Largest first, for outputs that have labels or look like class scores. */
  readonly topk?: readonly { readonly index: number; readonly label: string | null; readonly value: string }[]
  /** Raw bytes, up to 4 MB. */
  readonly bytesBase64?: string
}

export interface InferResult {
  /** The status that `POST /v2/models/<model>/infer` answers. */
  readonly status: number
  readonly timing: StageTimes
  /** JSON text of the v2 response, null on error or above 16 MB. */
  readonly response: string | null
  readonly outputs: readonly OutputView[]
  readonly error?: InferError
}

export interface InferError {
  readonly code: string
  readonly message: string
  readonly httpStatus: number
  /** Where a Python model failed. */
  readonly python?: PythonFailure
}

/** What comes of a model that answers any number of times; the last event is the end. */
export type StreamEvent =
  | {
      readonly kind: 'answer'
      /** Counts all answers from 0; some may be left out. */
      readonly index: number
      /** Since the request was taken. */
      readonly atUs: number
      readonly outputs: readonly OutputView[]
      readonly response: string | null
    }
  | {
      readonly kind: 'end'
      readonly status: number
      readonly timing: StageTimes
      /** Also those that were not shown. */
      readonly answers: number
      readonly error?: InferError
    }
