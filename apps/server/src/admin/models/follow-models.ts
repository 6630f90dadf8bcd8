import { tracked } from '@trpc/server'
import type { Services } from '../context.ts'
import { followEvents } from '../follow-events.ts'
import type { VersionState } from '../model.schema.ts'
import type { ModelEvent } from './models.schema.ts'

/** State changes from now on. After a lost connection the reader lists the models anew instead of replaying. */
export async function* followModels({ engine }: Services, signal: AbortSignal | undefined) {
  let id = 0
  for await (const event of followEvents<ModelEvent>(
    (push) => engine.onLifecycle(({ state, ...rest }) => push({ ...rest, state: readState(state) })),
    signal,
  )) {
    yield tracked(`${event.at}-${++id}`, event)
  }
}

const STATES: readonly VersionState[] = ['READY', 'UNAVAILABLE', 'LOADING', 'UNLOADING']

function readState(text: string): VersionState {
  return STATES.find((state) => state === text) ?? 'UNKNOWN'
}
