import { decodeMessage, encodeMessage } from '@conch/protocol'
import type { ApiGroup } from '../settings.ts'
import type { Call, CallHandler } from './call.ts'
import type { Face } from './face.ts'
import {
  checkHealth,
  loadModel,
  modelConfig,
  modelMetadata,
  modelReady,
  modelStatistics,
  repositoryIndex,
  serverLive,
  serverMetadata,
  serverReady,
  unloadModel,
} from './facts.ts'
import type { Fields } from './fields.ts'
import { UnaryInfer } from './infer.ts'
import { StreamInfer } from './stream.ts'
import {
  cudaStatus,
  registerCuda,
  registerSystem,
  systemStatus,
  unregisterCuda,
  unregisterSystem,
} from './shared-memory.ts'
import { logSettings, traceSetting } from './settings.ts'
import { UnaryCall } from './unary.ts'

type Answer = (face: Face, request: Fields) => Fields | Promise<Fields>

export interface Method {
  /** Of `--grpc-restricted-protocol`. */
  readonly group: ApiGroup
  readonly open: (call: Call) => CallHandler
}

/** A method with one request and one answer, both decoded by their tables. */
function unary(group: ApiGroup, name: string, answer: Answer): Method {
  return {
    group,
    open: (call) =>
      new UnaryCall(call, async (bytes) => {
        const response = await answer(call.face, decodeMessage(`${name}Request`, bytes))
        const message = encodeMessage(`${name}Response`, response)
        call.answer({ parts: [message], size: message.length })
      }),
  }
}

const inference: [name: string, Method][] = [
  ['ServerLive', unary('health', 'ServerLive', serverLive)],
  ['ServerReady', unary('health', 'ServerReady', serverReady)],
  ['ModelReady', unary('health', 'ModelReady', modelReady)],
  ['ServerMetadata', unary('metadata', 'ServerMetadata', serverMetadata)],
  ['ModelMetadata', unary('metadata', 'ModelMetadata', modelMetadata)],
  ['ModelInfer', { group: 'inference', open: (call) => new UnaryInfer(call) }],
  ['ModelStreamInfer', { group: 'inference', open: (call) => new StreamInfer(call) }],
  ['ModelConfig', unary('model-config', 'ModelConfig', modelConfig)],
  ['ModelStatistics', unary('statistics', 'ModelStatistics', modelStatistics)],
  ['RepositoryIndex', unary('model-repository', 'RepositoryIndex', repositoryIndex)],
  ['RepositoryModelLoad', unary('model-repository', 'RepositoryModelLoad', loadModel)],
  ['RepositoryModelUnload', unary('model-repository', 'RepositoryModelUnload', unloadModel)],
  ['SystemSharedMemoryStatus', unary('shared-memory', 'SystemSharedMemoryStatus', systemStatus)],
  ['SystemSharedMemoryRegister', unary('shared-memory', 'SystemSharedMemoryRegister', registerSystem)],
  ['SystemSharedMemoryUnregister', unary('shared-memory', 'SystemSharedMemoryUnregister', unregisterSystem)],
  ['CudaSharedMemoryStatus', unary('shared-memory', 'CudaSharedMemoryStatus', cudaStatus)],
  ['CudaSharedMemoryRegister', unary('shared-memory', 'CudaSharedMemoryRegister', registerCuda)],
  ['CudaSharedMemoryUnregister', unary('shared-memory', 'CudaSharedMemoryUnregister', unregisterCuda)],
  ['TraceSetting', unary('trace', 'TraceSetting', traceSetting)],
  ['LogSettings', unary('logging', 'LogSettings', logSettings)],
]

/** The whole port: path → method. */
export const METHODS: ReadonlyMap<string, Method> = new Map([
  ...inference.map(([name, method]) => [`/inference.GRPCInferenceService/${name}`, method] as const),
  ['/grpc.health.v1.Health/Check', unary('health', 'HealthCheck', checkHealth)],
])
