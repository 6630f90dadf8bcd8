import type { ModelConfig } from '@conch/protocol'
import type { Backend, BackendContext, BackendModel, InstanceSpec } from '../contract.ts'
import { checkModel } from './check-model.ts'
import { completeConfig, isComplete } from './complete-config.ts'
import { openEnv } from './env.ts'
import type { Env } from './env.ts'
import { OnnxInstance } from './instance.ts'
import { locateModel } from './locate-model.ts'
import { Session } from './session.ts'
import type { ModelFile } from './session.ts'
import { planSession } from './session-plan.ts'
import { planFeeds, planFetches } from './tensor-plan.ts'

/** ONNX Runtime, through its C interface. One session per instance, as in the original. */
export function createOnnxBackend(): Backend {
  return {
    name: 'onnxruntime',
    preferredGroup: { kind: 'KIND_CPU', count: 2 },
    complete,
    load,
  }
}

async function complete(config: ModelConfig, context: BackendContext): Promise<ModelConfig> {
  if (isComplete(config, context.log)) return config
  const env = openEnv(context.settings)
  const file = await locateModel(config, context)
  const session = await Session.open(env, file, planSession(config, { kind: 'KIND_CPU', deviceId: 0 }))
  try {
    return completeConfig(config, session.signature, context)
  } finally {
    await session.close()
  }
}

async function load(config: ModelConfig, context: BackendContext): Promise<BackendModel> {
  const env = openEnv(context.settings)
  const file = await locateModel(config, context)
  return {
    createInstance: (spec) => createInstance({ env, file, config }, spec),
    close: () => Promise.resolve(),
  }
}

interface LoadedModel {
  readonly env: Env
  readonly file: ModelFile
  readonly config: ModelConfig
}

async function createInstance({ env, file, config }: LoadedModel, spec: InstanceSpec): Promise<OnnxInstance> {
  const session = await Session.open(env, file, planSession(config, spec))
  try {
    checkModel(config, session.signature)
    return new OnnxInstance(session, {
      feeds: planFeeds(config, session.signature),
      fetches: planFetches(config, session.signature),
      batches: config.max_batch_size > 0,
    })
  } catch (error) {
    await session.close()
    throw error
  }
}
