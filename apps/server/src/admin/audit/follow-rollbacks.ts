import type { Engine } from '@conch/engine'
import type { Database } from '../db.ts'

/** Who it is when nobody asked for it. */
const SERVER = '(server)'

/** Writes what traffic policies do by themselves, and what was changed on disk; calls are recorded where they come in. */
export function followRollbacks(engine: Pick<Engine, 'onTraffic'>, db: Pick<Database, 'recordAudit'>): () => void {
  return engine.onTraffic(({ model, change, by, version, reason }) => {
    if (by === 'call') return
    const isRollback = change === 'rolled back'
    void db.recordAudit({
      who: SERVER,
      from: by === 'file' ? 'traffic.json' : 'traffic policy',
      action: isRollback ? 'rollout.rollBack' : 'rollout.set',
      object: model,
      detail: isRollback ? `version ${version}: ${reason}` : change,
      outcome: 'done',
    })
  })
}
