import { checkBatchIo } from './check-batch-io.ts'
import { checkDynamicBatching } from './check-batching.ts'
import { checkEnsemble } from './check-ensemble.ts'
import { checkCache, checkGeneral } from './check-general.ts'
import { checkInstances } from './check-instances.ts'
import { checkTensors } from './check-io.ts'
import { checkLabels } from './check-labels.ts'
import { checkMetrics } from './check-metrics.ts'
import { checkSequence } from './check-sequence.ts'
import { checkStates } from './check-states.ts'
import { checkWarmup } from './check-warmup.ts'
import type { CheckOptions } from './complaints.ts'
import { Complaints } from './complaints.ts'
import type { Problem } from './problem.ts'
import type { ModelConfig } from './schema.ts'

/**
 * Every rule that a completed configuration must obey, all complaints at once. The first error is the one that the
 * original reports; its text is `original`, and `message` adds facts and advice.
 */
export function checkConfig(config: ModelConfig, options: CheckOptions): Problem[] {
  const complaints = new Complaints(config, options)
  checkGeneral(complaints)
  checkDynamicBatching(complaints)
  checkSequence(complaints)
  checkEnsemble(complaints)
  checkCache(complaints)
  checkMetrics(complaints)
  if (options.strictIo) {
    checkTensors(complaints)
    checkBatchIo(complaints)
  }
  if (options.gpus !== undefined) checkInstances(complaints, options.gpus)
  if (options.files !== undefined) checkLabels(complaints, options.files)
  if (options.strictIo) {
    checkStates(complaints)
    checkWarmup(complaints)
  }
  return complaints.problems
}
