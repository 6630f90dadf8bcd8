import type { TrafficPolicy, TrafficProblem } from '@conch/protocol'
import { z } from 'zod'
import { modelNameSchema, versionSchema } from '../model.schema.ts'

export const getRolloutSchema = z.strictObject({ model: modelNameSchema })
export const checkRolloutSchema = z.strictObject({ text: z.string().max(262_144, 'At most 256 KiB') })
/** The text of the file (docs/traffic.md); null removes it. */
export const setRolloutSchema = z.strictObject({
  model: modelNameSchema,
  text: z.string().max(262_144, 'At most 256 KiB').nullable(),
})
export const rollBackSchema = z.strictObject({
  model: modelNameSchema,
  version: versionSchema,
  reason: z.string().min(1, 'Say why').max(1_000),
})

export interface RolloutArm {
  readonly version: string
  readonly name: string
  /** As written, and what it gets now; percent. */
  readonly weight: number
  readonly share: number
  readonly ready: boolean
  readonly requests: number
  readonly failures: number
  readonly recent: { readonly requests: number; readonly failures: number; readonly latencyMs: number } | null
}

export interface RolloutShadow {
  readonly version: string
  readonly name: string
  readonly active: boolean
  readonly inflight: number
  readonly sent: number
  readonly matched: number
  readonly different: number
  readonly failed: number
  readonly dropped: number
  readonly example: string
}

/** What a model's policy does now. */
export interface Rollout {
  readonly model: string
  readonly policy: TrafficPolicy
  /** What would be in the file. */
  readonly text: string
  readonly arms: readonly RolloutArm[]
  readonly shadow: RolloutShadow | null
  readonly sequences: number
}

export interface CheckedRollout {
  readonly problems: readonly TrafficProblem[]
}
