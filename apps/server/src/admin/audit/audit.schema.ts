import { z } from 'zod'

export const listAuditSchema = z.strictObject({
  /** The `next` of the page before. */
  before: z.int().positive().optional(),
  limit: z.int().min(1).max(200).default(50),
  /** Only entries about this object (a model's name, a user's name). */
  object: z.string().min(1).max(300).optional(),
})

export interface AuditRow {
  readonly id: number
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly who: string
  readonly from: string
  /** As in `models.load`. */
  readonly action: string
  readonly object: string
  readonly detail: string
  /** `done`, or why it was not. */
  readonly outcome: string
}

export interface AuditPage {
  readonly rows: readonly AuditRow[]
  readonly next: number | null
}
