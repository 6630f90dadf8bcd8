import { ConchError } from '@conch/protocol'
import type { AdminContext } from '../context.ts'
import { getRollout } from './get-rollout.ts'
import type { Rollout } from './rollout.schema.ts'

/** Writes a model's policy and applies it at once; null removes it. Refuses with every problem. */
export async function setPolicy(
  { services, audit }: AdminContext,
  { model, text }: { model: string; text: string | null },
): Promise<Rollout | null> {
  audit.detail = text ?? 'no policy'
  await services.engine.setTraffic(model, text === null ? undefined : parseJson(text))
  return getRollout(services, { model })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new ConchError('INVALID_ARG', `This is no JSON: ${why}`, { cause })
  }
}
