import { resolve } from 'node:path'
import type { ModelConfig } from '@conch/protocol'
import type { Backend, BackendContext, BackendModel, InstanceSpec } from '../contract.ts'
import { checkModel } from './check-model.ts'
import { completeConfig, isComplete } from './complete-config.ts'
import { openEnv } from './env.ts'
import type { Env } from './env.ts'
import { isBounded } from './bounded.ts'
import { Handover, identifySession } from './handover.ts'
import { OnnxInstance } from './instance.ts'
import { locateModel } from './locate-model.ts'
import { Session } from './session.ts'
import type { ModelFile } from './session.ts'
import { DEFAULT_INSTANCES, planSession } from './session-plan.ts'
import type { SessionPlan } from './session-plan.ts'
import { planFeeds, planFetches } from './tensor-plan.ts'

/** ONNX Runtime, through its C interface. One session per instance, as in the original. */
export function createOnnxBackend(): Backend {
  return new OnnxBackend()
}

class OnnxBackend implements Backend {
  readonly name = 'onnxruntime'
  readonly preferredGroup = { kind: 'KIND_CPU', count: DEFAULT_INSTANCES } as const
  readonly #handover = new Handover()

  async complete(config: ModelConfig, context: BackendContext): Promise<ModelConfig> {
    if (isComplete(config, context.log)) return config
    const env = await openEnv(context.settings)
    const file = await locateModel(config, context)
    const plan = planIn(context.modelDirectory, config, { kind: 'KIND_CPU', deviceId: 0 })
    const identity = await identifySession(file, plan)
    const session = await Session.open(env, file, plan)
    try {
      const completed = completeConfig(config, session.signature, context)
      await this.#handover.leave(identity, session)
      return completed
    } catch (error) {
      await session.close()
      throw error
    }
  }

  async load(config: ModelConfig, context: BackendContext): Promise<BackendModel> {
    const env = await openEnv(context.settings)
    const file = await locateModel(config, context)
    const { modelDirectory: directory } = context
    const model = { env, file, directory, config, bounded: await isBounded(config, file) }
    return {
      createInstance: (spec) => this.#createInstance(model, spec),
      close: () => Promise.resolve(),
    }
  }

  async #createInstance(model: LoadedModel, spec: InstanceSpec): Promise<OnnxInstance> {
    const { env, file, config, bounded } = model
    const plan = planIn(model.directory, config, spec)
    const session = this.#handover.take(await identifySession(file, plan)) ?? (await Session.open(env, file, plan))
    try {
      checkModel(config, session.signature)
      return new OnnxInstance(session, {
        feeds: planFeeds(config, session.signature),
        fetches: planFetches(config, session.signature),
        batches: config.max_batch_size > 0,
        bounded,
      })
    } catch (error) {
      await session.close()
      throw error
    }
  }
}

interface LoadedModel {
  readonly env: Env
  readonly file: ModelFile
  /** The model's, absolute. */
  readonly directory: string
  readonly config: ModelConfig
  readonly bounded: boolean
}

/** Operator libraries are named relative to the model's directory, whatever the process's own is. */
function planIn(directory: string, config: ModelConfig, spec: Pick<InstanceSpec, 'kind' | 'deviceId'>): SessionPlan {
  const plan = planSession(config, spec)
  return { ...plan, operatorLibraries: plan.operatorLibraries.map((name) => resolve(directory, name)) }
}
