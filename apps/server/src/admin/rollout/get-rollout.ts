import { printTrafficPolicy } from '@conch/protocol'
import type { Services } from '../context.ts'
import type { Rollout } from './rollout.schema.ts'

/** What a model's policy does now; null = it has none. */
export function getRollout({ engine }: Pick<Services, 'engine'>, { model }: { model: string }): Rollout | null {
  const view = engine.traffic(model)
  if (view === undefined) return null
  const { policy, arms, shadow, sequences } = view
  return {
    model,
    policy,
    text: printTrafficPolicy(policy),
    arms: arms.map((arm) => ({ ...arm, recent: arm.recent ?? null })),
    shadow: shadow ?? null,
    sequences,
  }
}
