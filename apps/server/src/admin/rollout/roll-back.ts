import { ConchError } from '@conch/protocol'
import type { AdminContext } from '../context.ts'
import { getRollout } from './get-rollout.ts'
import type { Rollout } from './rollout.schema.ts'

/** Takes a version's requests away, by hand. */
export async function rollBack(
  { services, audit }: AdminContext,
  { model, version, reason }: { model: string; version: string; reason: string },
): Promise<Rollout | null> {
  audit.detail = `version ${version}: ${reason}`
  if (services.engine.traffic(model) === undefined) {
    throw new ConchError('NOT_FOUND', `Model '${model}' has no traffic policy; set one first`)
  }
  await services.engine.rollBackTraffic(model, version, reason)
  return getRollout(services, { model })
}
