import { dirname } from 'node:path'
import { configToJson } from '@conch/protocol'
import type { ModelConfig } from '@conch/protocol'
import type { BackendContext, InstanceSpec } from '../contract.ts'

/** The dictionary that `initialize` gets: texts only (python backend §1). */
export function describeArgs(config: ModelConfig, context: BackendContext, spec: InstanceSpec) {
  return {
    model_config: configToJson(config),
    model_instance_kind: spec.kind.slice('KIND_'.length),
    model_instance_name: spec.name,
    model_instance_device_id: String(spec.deviceId),
    model_repository: context.modelDirectory,
    model_version: context.version,
    model_name: config.name,
  }
}

/** What `init` and `complete` say about a model. */
export function describeModel(file: string, config: ModelConfig, context: BackendContext) {
  return {
    file,
    version_dir: context.versionDirectory,
    python_path: [context.versionDirectory, context.modelDirectory, dirname(file)].filter(isFirst),
    decoupled: config.model_transaction_policy?.decoupled === true,
    outputs: config.output.map(({ name }) => name),
    verbose: true,
  }
}

function isFirst<T>(one: T, index: number, all: readonly T[]): boolean {
  return all.indexOf(one) === index
}
