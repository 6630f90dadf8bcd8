import { z } from 'zod'
import { configTextSchema, modelNameSchema, type StateChange } from '../model.schema.ts'

export const saveConfigSchema = z.strictObject({
  model: modelNameSchema,
  configText: configTextSchema,
  /** `configHash` of the text that was edited: a change made meanwhile is never overwritten silently. */
  expectedHash: z.string().max(64),
})

export interface SavedConfig extends StateChange {
  readonly hash: string
}
