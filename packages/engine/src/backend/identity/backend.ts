import { setTimeout as sleep } from 'node:timers/promises'
import type { ModelConfig, Parameters, Tensor } from '@conch/protocol'
import { ConchError } from '@conch/protocol'
import type {
  Backend,
  BackendContext,
  BackendInstance,
  BackendModel,
  Batch,
  BatchAnswer,
  BatchAnswers,
  InstanceSpec,
} from '../contract.ts'
import { checkIdentityConfig } from './check-config.ts'
import { InputBytes } from './input-bytes.ts'
import { readIdentitySettings } from './settings.ts'
import type { IdentitySettings } from './settings.ts'

/** What the original's responses carry (other backends §4, measured). */
const PARAMETERS: Parameters = {
  param0: 'an example string parameter',
  param1: 42n,
  param2: false,
  param3: 123.123,
}

/** Copies `INPUT<i>` to `OUTPUT<i>`: for tests and for measuring everything but a model. */
export function createIdentityBackend(): Backend {
  return {
    name: 'identity',
    preferredGroup: { kind: 'KIND_CPU', count: 1 },
    complete: (config) => Promise.resolve(config),
    load: loadModel,
  }
}

async function loadModel(config: ModelConfig, { engine, version }: BackendContext): Promise<BackendModel> {
  const problems = checkIdentityConfig(config)
  if (problems[0] !== undefined) throw new ConchError('INVALID_ARG', problems[0])
  const settings = readIdentitySettings(config)
  await sleep(settings.creationDelayMs)
  const pairs = config.output.map(({ name }) => ({ input: `INPUT${name.slice('OUTPUT'.length)}`, output: name }))
  const received = new InputBytes(engine, { model: config.name, version })
  return {
    createInstance: async (spec) => {
      if (spec.kind !== 'KIND_CPU') {
        throw new ConchError('INVALID_ARG', "'identity' backend only supports CPU instances")
      }
      await sleep(settings.creationDelayMs)
      return new IdentityInstance(pairs, { delay: chooseDelay(settings, spec), received })
    },
    close: () => {
      received.close()
      return Promise.resolve()
    },
  }
}

/** Milliseconds before each batch; instance 0 of a group never waits longer than its siblings. */
function chooseDelay(settings: IdentitySettings, spec: InstanceSpec): number {
  if (settings.instanceDelayMultiplier === 0) return settings.executeDelayMs
  const index = Number(/_(\d+)$/.exec(spec.name)?.[1] ?? 0)
  return settings.executeDelayMs * settings.instanceDelayMultiplier * index
}

interface Pair {
  readonly input: string
  readonly output: string
}

class IdentityInstance implements BackendInstance {
  readonly #pairs: readonly Pair[]
  readonly #delay: number
  readonly #received: InputBytes

  constructor(pairs: readonly Pair[], { delay, received }: { delay: number; received: InputBytes }) {
    this.#pairs = pairs
    this.#delay = delay
    this.#received = received
  }

  execute(batch: Batch): BatchAnswers | Promise<BatchAnswers> {
    batch.computeInputEnd = performance.now()
    this.#received.count(batch.requests)
    return this.#delay > 0 ? this.#executeLater(batch) : this.#answer(batch)
  }

  async #executeLater(batch: Batch): Promise<BatchAnswers> {
    try {
      await sleep(this.#delay, undefined, batch.signal === undefined ? {} : { signal: batch.signal })
    } catch (cause) {
      throw new ConchError('CANCELLED', '', { cause })
    }
    return this.#answer(batch)
  }

  #answer(batch: Batch): BatchAnswers {
    batch.computeOutputStart = performance.now()
    return batch.requests.map(({ request }) => this.#copy(request.inputs, batch))
  }

  #copy(inputs: readonly Tensor[], batch: Batch): BatchAnswer {
    const outputs: Tensor[] = []
    for (const { input, output } of this.#pairs) {
      const tensor = batch.outputs.has(output) ? inputs.find(({ name }) => name === input) : undefined
      if (tensor === undefined) continue
      // A view on the request's own bytes: nothing is copied.
      outputs.push({ name: output, datatype: tensor.datatype, shape: tensor.shape, data: tensor.data })
    }
    return { outputs, parameters: PARAMETERS }
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}
