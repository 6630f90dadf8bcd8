import { ConchError } from '@conch/protocol'
import type { InferRequest, InferResponse, ModelConfig, Tensor } from '@conch/protocol'
import type { Engine, ModelMetadata } from '@conch/engine'

const METADATA: ModelMetadata = {
  name: 'echo',
  versions: ['1'],
  platform: 'identity',
  inputs: [{ name: 'IN', datatype: 'FP32', shape: [-1] }],
  outputs: [{ name: 'OUT', datatype: 'FP32', shape: [-1] }],
}

const CONFIG = { name: 'echo', max_batch_size: 0, input: [{ name: 'IN', data_type: 'TYPE_FP32', dims: [-1] }] }

/** One model, `echo`, that gives IN back as OUT. What a test wants otherwise it overrides. */
export function fakeEngine(overrides: Partial<Engine> = {}): Engine {
  const known = <T>(model: string, value: T): T => {
    if (model !== 'echo') throw new ConchError('NOT_FOUND', `Request for unknown model: '${model}' is not found`)
    return value
  }
  return {
    phase: 'ready',
    requests: { find: () => undefined, recent: () => [], slowest: () => [] },
    start: () => Promise.resolve(true),
    stop: () => Promise.resolve(true),
    live: () => true,
    ready: () => Promise.resolve(true),
    modelReady: (model) => Promise.resolve(model === 'echo'),
    metadata: (model) => known(model, METADATA),
    config: (model) => known(model, CONFIG as unknown as ModelConfig),
    statistics: () => [],
    labels: () => undefined,
    memory: {
      status: (kind, name) => {
        if (name === '') return []
        throw new ConchError('NOT_FOUND', `Unable to find ${kind} shared memory region: '${name}'`)
      },
      registerSystem: () => undefined,
      registerCuda: () => undefined,
      unregister: () => undefined,
      lend: () => undefined,
    },
    infer: (request) => Promise.resolve().then(() => known(request.model, answer(request))),
    stream: async (request, onResponse) => onResponse(await Promise.resolve(answer(request)), true),
    index: () => Promise.resolve([{ name: 'echo', version: '1', state: 'READY', reason: '' }]),
    load: () => Promise.resolve(),
    unload: () => Promise.resolve(),
    metricsText: () => Promise.resolve('# HELP x y\n'),
    liveSamples: () => [],
    onLifecycle: () => () => undefined,
    findLabel: () => undefined,
    onTraffic: () => () => undefined,
    ...overrides,
  } as Engine
}

function answer(request: InferRequest): InferResponse {
  const outputs: Tensor[] = request.inputs.map((input) => ({ ...input, name: input.name.replace('IN', 'OUT') }))
  return { model: request.model, version: '1', id: request.id, parameters: {}, outputs }
}
