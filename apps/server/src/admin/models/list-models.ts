import type { Engine } from '@conch/engine'
import type { ModelConfig } from '@conch/protocol'
import type { Services } from '../context.ts'
import { groupIndex, type IndexedModel } from '../model-state.ts'
import type { Batching, ModelRow } from './models.schema.ts'

export async function listModels({ engine, live }: Services): Promise<readonly ModelRow[]> {
  const models = groupIndex(await engine.index(false))
  return models.map((model) => ({
    name: model.name,
    state: model.state,
    reason: model.reason,
    versions: model.versions,
    ...describeConfig(readConfig(engine, model)),
    ...live.recent(model.name),
  }))
}

/** The config of the highest version that serves. */
export function readConfig(engine: Engine, model: IndexedModel): ModelConfig | undefined {
  const ready = model.versions.find(({ state }) => state === 'READY')
  if (ready === undefined) return undefined
  try {
    return engine.config(model.name, ready.version)
  } catch {
    // It was unloaded between the index and now.
    return undefined
  }
}

function describeConfig(config: ModelConfig | undefined) {
  if (config === undefined) {
    return { backend: '', platform: '', maxBatchSize: 0, batching: 'none' as const, instances: 0, kind: '' }
  }
  const groups = config.instance_group.filter(({ passive }) => !passive)
  return {
    backend: config.backend,
    platform: config.platform,
    maxBatchSize: config.max_batch_size,
    batching: nameBatching(config),
    instances: groups.reduce(
      (sum, { count, kind, gpus }) => sum + count * (kind === 'KIND_GPU' ? Math.max(gpus.length, 1) : 1),
      0,
    ),
    kind: [...new Set(groups.map(({ kind }) => kind.replace('KIND_', '')))].sort().join(' + '),
  }
}

function nameBatching(config: ModelConfig): Batching {
  if (config.ensemble_scheduling !== undefined) return 'ensemble'
  if (config.sequence_batching !== undefined) return 'sequence'
  return config.dynamic_batching === undefined ? 'none' : 'dynamic'
}
