import type { Engine } from '@conch/engine'
import type { z } from 'zod'
import type { requestListSchema, RequestView } from './requests.schema.ts'

/** The slowest ones of all models together when none is named. */
export function listRequests(
  engine: Pick<Engine, 'requests' | 'liveSamples'>,
  { model, order, limit }: z.output<typeof requestListSchema>,
): readonly RequestView[] {
  if (order === 'newest') return engine.requests.recent(limit, model)
  const models = model === undefined ? new Set(engine.liveSamples().map((sample) => sample.model)) : [model]
  return [...models]
    .flatMap((name) => engine.requests.slowest(name))
    .toSorted((a, b) => b.total - a.total)
    .slice(0, limit)
}
