import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ConchError, createRequest } from '@conch/protocol'
import type { InferRequest, ModelConfig, Tensor } from '@conch/protocol'
import type { Backend, BackendContext, Batch, BatchAnswers, EngineCalls, InstanceSpec } from './backend/contract.ts'
import type { EngineOptions } from './contract.ts'
import type { LogLevel } from './observe/contract.ts'

/** A model repository of tiny models; test/fixtures/make_models.py says what each is for. */
export const FIXTURE_MODELS = fileURLToPath(new URL('../test/fixtures/models', import.meta.url))

const refuse = () => {
  throw new ConchError('UNSUPPORTED', 'there is no engine here')
}

/** For backends whose models ask nothing of the engine. */
export const NO_ENGINE: EngineCalls = {
  infer: async () => Promise.resolve().then(refuse),
  load: async () => Promise.resolve().then(refuse),
  unload: async () => Promise.resolve().then(refuse),
  isReady: async () => Promise.resolve(false),
  createFamily: refuse,
}

/** A backend for tests: outputs are the inputs in order, unless `execute` says otherwise. Notes what happens to it. */
export class FakeBackend implements Backend {
  readonly name = 'fake'
  readonly preferredGroup = { kind: 'KIND_CPU', count: 1 } as const
  /** Everything that was done, in order: `load m:1`, `create m_0_0`, `execute 2`, `close m_0_0`, `unload m:1`. */
  readonly calls: string[] = []
  /** What a batch is answered with. */
  execute: (batch: Batch, config: ModelConfig) => BatchAnswers | Promise<BatchAnswers> = copyInputs
  /** Called before a load goes on; may throw or wait. */
  onLoad: (config: ModelConfig, context: BackendContext) => Promise<void> | void = () => undefined

  async complete(config: ModelConfig): Promise<ModelConfig> {
    return Promise.resolve(config)
  }

  async load(config: ModelConfig, context: BackendContext) {
    const what = `${config.name}:${context.version}`
    this.calls.push(`load ${what}`)
    await this.onLoad(config, context)
    return {
      createInstance: async (spec: InstanceSpec) => {
        this.calls.push(`create ${spec.name}`)
        return Promise.resolve({
          execute: (batch: Batch) => {
            this.calls.push(`execute ${batch.rows}`)
            return this.execute(batch, config)
          },
          close: async () => {
            this.calls.push(`close ${spec.name}`)
            return Promise.resolve()
          },
        })
      },
      close: async () => {
        this.calls.push(`unload ${what}`)
        return Promise.resolve()
      },
    }
  }
}

/** Answers every request with its inputs under the names of the config's outputs. */
export function copyInputs(batch: Batch, config: ModelConfig): BatchAnswers {
  return batch.requests.map(({ request }) => ({
    outputs: config.output.flatMap(({ name }, index) => {
      const input = request.inputs[index]
      return input === undefined ? [] : [{ ...input, name }]
    }),
  }))
}

/** Finds the given backends and no others. */
export function onlyBackends(...backends: readonly Backend[]): (name: string) => Promise<Backend> {
  return (name) => {
    const found = backends.find((backend) => backend.name === name)
    const text = `unable to find backend library for backend '${name}', try specifying runtime on the model configuration.`
    return found === undefined ? Promise.reject(new ConchError('INVALID_ARG', text)) : Promise.resolve(found)
  }
}

/** A temporary directory with the given files; a path that ends in `/` is an empty directory. */
export async function makeDirectory(files: Readonly<Record<string, string | Uint8Array>>) {
  const directory = await mkdtemp(join(tmpdir(), 'conch-test-'))
  const put = async (path: string, content: string | Uint8Array) => {
    const full = join(directory, path)
    await mkdir(path.endsWith('/') ? full : dirname(full), { recursive: true })
    if (path.endsWith('/')) return
    // Whole or not at all: whoever polls the directory meanwhile must not see half a file.
    const draft = `${directory}.draft`
    await writeFile(draft, content)
    await rename(draft, full)
  }
  for (const [path, content] of Object.entries(files)) await put(path, content)
  return { directory, put, remove: () => rm(directory, { recursive: true, force: true }) }
}

/** One FP32 input `IN` and output `OUT` of `dims` on the fake backend. */
export function fakeConfig(extra = '', dims = '4', maxBatch = 8): string {
  return `backend: "fake"
max_batch_size: ${maxBatch}
input { name: "IN" data_type: TYPE_FP32 dims: [ ${dims} ] }
output { name: "OUT" data_type: TYPE_FP32 dims: [ ${dims} ] }
instance_group { kind: KIND_CPU count: 1 }
${extra}`
}

/** Options of an engine on the given repositories, and the log it writes. */
export function testOptions(
  repositories: readonly string[],
  change: Partial<EngineOptions> = {},
): EngineOptions & { readonly lines: string[] } {
  const lines: string[] = []
  return {
    repositories,
    controlMode: 'explicit',
    startupModels: [],
    pollSeconds: 15,
    strictReadiness: true,
    autoComplete: true,
    modelConfigName: '',
    loadThreads: 4,
    loadRetries: 0,
    namespacing: false,
    exitTimeoutSeconds: 30,
    backendConfig: {},
    metrics: { enabled: true, cpu: false, gpu: false, intervalMs: 2_000, config: {} },
    log: { verbose: 0, write: (level: LogLevel, text: string) => void lines.push(`${level} ${text}`) },
    lines,
    ...change,
  }
}

/** A request with every field, FP32 inputs of the given shape filled with `value`. */
export function testRequest(
  model: string,
  inputs: readonly Tensor[],
  change: Partial<InferRequest> = {},
): InferRequest {
  return { ...createRequest({ model, version: '' }), inputs, binaryOutputs: true, ...change }
}

export function floats(name: string, shape: readonly number[], value = 0): Tensor {
  const data = new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(value)
  return { name, datatype: 'FP32', shape, data: new Uint8Array(data.buffer) }
}
