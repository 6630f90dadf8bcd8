import { ConchError } from '@conch/protocol'
import type { Scheduler, ScheduleParts } from './contract.ts'
import { DirectScheduler } from './direct.ts'
import { DynamicScheduler } from './dynamic.ts'
import { EnsembleScheduler } from './ensemble/scheduler.ts'

/** Config → scheduler; the only place that decides. */
export function chooseScheduler(parts: ScheduleParts): Scheduler {
  const { config, model } = parts
  if (config.sequence_batching !== undefined) {
    throw new ConchError(
      'UNSUPPORTED',
      `model '${model}' asks for sequence_batching, which this server does not support yet`,
    )
  }
  if (config.platform === 'ensemble') return new EnsembleScheduler(parts)
  return config.dynamic_batching === undefined ? new DirectScheduler(parts) : new DynamicScheduler(parts)
}
