import { z } from 'zod'
import { modelNameSchema } from '../model.schema.ts'

export const requestIdSchema = z.strictObject({ id: z.string().min(1).max(256) })

export const requestListSchema = z.strictObject({
  /** Absent: clients' own requests to any model. */
  model: modelNameSchema.optional(),
  order: z.enum(['newest', 'slowest']).default('newest'),
  limit: z.int().min(1).max(1_000).default(100),
})

/** Where the time of one request went; durations are microseconds. */
export interface RequestView {
  readonly id: string
  readonly model: string
  readonly version: string
  readonly outcome: 'success' | 'rejected' | 'cancelled' | 'backend' | 'other'
  readonly rows: number
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly total: number
  readonly queue: number
  readonly input: number
  readonly infer: number
  readonly output: number
  readonly cache: { readonly hit: boolean; readonly us: number } | undefined
  readonly steps: readonly RequestView[]
}
