import type { Scheduler, ScheduleParts } from './contract.ts'
import { DirectScheduler } from './direct.ts'
import { DynamicScheduler } from './dynamic.ts'
import { EnsembleScheduler } from './ensemble/scheduler.ts'
import { SequenceScheduler } from './sequence/batcher.ts'

/** Config → scheduler; the only place that decides. */
export function chooseScheduler(parts: ScheduleParts): Scheduler {
  const { config } = parts
  if (config.sequence_batching !== undefined) return new SequenceScheduler(parts)
  if (config.platform === 'ensemble') return new EnsembleScheduler(parts)
  return config.dynamic_batching === undefined ? new DirectScheduler(parts) : new DynamicScheduler(parts)
}
