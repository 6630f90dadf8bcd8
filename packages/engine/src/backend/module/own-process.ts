import { ConchError } from '@conch/protocol'
import type { ModelConfig } from '@conch/protocol'
import type { Backend, BackendContext } from '../contract.ts'
import type { Loading } from './bodies.ts'
import { Child } from './child.ts'
import type { ChildParts } from './child.ts'
import type { Origin } from './locate.ts'
import { describePlace } from './place.ts'
import { RemoteModel } from './remote-model.ts'

/** A custom backend each of whose loaded versions runs in a process of its own. Its module is read anew by each load. */
export async function openOwnProcess(origin: Origin): Promise<Backend> {
  const { child, opened } = await Child.open(origin, { ...DEAF, log: () => undefined })
  await child.end()
  return {
    name: origin.name,
    preferredGroup: opened.preferredGroup,
    complete: (config, context) => (opened.completes ? complete(origin, config, context) : Promise.resolve(config)),
    load: (config, context) => RemoteModel.load(origin, config, context),
  }
}

async function complete(origin: Origin, config: ModelConfig, context: BackendContext): Promise<ModelConfig> {
  const { child } = await Child.open(origin, { ...DEAF, log: context.log })
  try {
    const body: Loading = { config, place: describePlace(context) }
    return (await child.wire.ask('complete', body)) as ModelConfig
  } finally {
    await child.end()
  }
}

/** Before anything is loaded a child has nothing to ask. */
const DEAF: Omit<ChildParts, 'log'> = {
  answer: () => Promise.reject(new ConchError('UNAVAILABLE', 'the engine answers loaded models only')),
  note: () => undefined,
}
