import { z } from 'zod'
import { modelNameSchema } from '../model.schema.ts'

export const modelLogSchema = z.strictObject({ model: modelNameSchema, lastEventId: z.string().max(20).optional() })

export interface LogLine {
  /** Grows by one a line; a jump is a gap. */
  readonly id: number
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly level: 'verbose' | 'info' | 'warning' | 'error'
  readonly text: string
  /** Whose line it is; '' = the server's own. */
  readonly model: string
  readonly version: string
}
