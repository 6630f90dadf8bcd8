import type { AdminContext } from '../context.ts'
import type { StateChange } from '../model.schema.ts'
import { readStateOf } from '../model-state.ts'

interface Input {
  readonly model: string
  readonly dependents: boolean
}

/** Requests in flight finish first; the state says UNLOADING until then. */
export async function unloadModel(
  { services, audit }: AdminContext,
  { model, dependents }: Input,
): Promise<StateChange> {
  await services.engine.unload(model, dependents)
  const change = await readStateOf(services.engine, model)
  audit.detail = dependents ? `${change.state}, with dependents` : change.state
  return change
}
