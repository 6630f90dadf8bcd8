import type { AdminContext } from '../context.ts'
import type { StateChange } from '../model.schema.ts'
import { readStateOf } from '../model-state.ts'

/** Loads or loads anew. A failure keeps what served before, and its text is the answer. */
export async function loadModel({ services, audit }: AdminContext, { model }: { model: string }): Promise<StateChange> {
  await services.engine.load(model)
  const change = await readStateOf(services.engine, model)
  audit.detail = change.state
  return change
}
