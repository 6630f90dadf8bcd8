import { ConchError } from '@conch/protocol'
import type { Datatype, ModelConfig } from '@conch/protocol'
import type {
  Backend,
  BackendContext,
  BackendInstance,
  BackendModel,
  Batch,
  BatchAnswers,
  InstanceSpec,
} from '../contract.ts'
import { checkAnswers, listOutputs } from './check-answers.ts'
import type { CustomBackend } from './custom-backend.ts'
import { explainFault } from './explain-fault.ts'
import type { Blamed } from './explain-fault.ts'

type CustomModel = Awaited<ReturnType<CustomBackend['load']>>
type CustomInstance = Awaited<ReturnType<CustomModel['createInstance']>>

export interface GuardedBackend extends Backend {
  /** False when configs stay as they are. */
  readonly completes: boolean
}

/** A custom backend that can be relied on: whatever it throws says what, where and why; what it answers is checked. */
export function guardBackend(custom: CustomBackend, blamed: Blamed): GuardedBackend {
  const { preferredGroup = { kind: 'KIND_CPU', count: 1 } } = custom
  return {
    name: blamed.name,
    preferredGroup,
    completes: custom.complete !== undefined,
    complete: async (config, context) => {
      if (custom.complete === undefined) return config
      const completed = await attempt(blamed, 'in complete', async () => custom.complete?.(config, context))
      return asObject(completed, blamed, 'complete must return the model configuration') as unknown as ModelConfig
    },
    load: async (config, context) => {
      const model = await attempt(blamed, 'in load', async () => custom.load(config, context))
      requireMethod(model, 'createInstance', { blamed, of: 'load' })
      return new GuardedModel(model, { blamed, config, context })
    },
  }
}

interface Parts {
  readonly blamed: Blamed
  readonly config: ModelConfig
  readonly context: BackendContext
}

class GuardedModel implements BackendModel {
  readonly #model: CustomModel
  readonly #parts: Parts

  constructor(model: CustomModel, parts: Parts) {
    this.#model = model
    this.#parts = parts
  }

  async createInstance(spec: InstanceSpec): Promise<BackendInstance> {
    const { blamed, config, context } = this.#parts
    const instance = await attempt(blamed, 'in createInstance', async () => this.#model.createInstance(spec))
    requireMethod(instance, 'execute', { blamed, of: 'createInstance' })
    return new GuardedInstance(instance, { blamed, config, context })
  }

  close(): Promise<void> {
    return closeQuietly(this.#parts, async () => this.#model.close?.())
  }
}

class GuardedInstance implements BackendInstance {
  readonly checkReady?: () => Promise<void>
  readonly #instance: CustomInstance
  readonly #parts: Parts
  readonly #outputs: ReadonlyMap<string, Datatype | undefined>
  #closed: Promise<void> | undefined = undefined

  constructor(instance: CustomInstance, parts: Parts) {
    this.#instance = instance
    this.#parts = parts
    this.#outputs = listOutputs(parts.config)
    if (typeof instance.checkReady === 'function') {
      this.checkReady = () => attempt(parts.blamed, 'in checkReady', async () => instance.checkReady?.())
    }
  }

  execute(batch: Batch): BatchAnswers | Promise<BatchAnswers> {
    let answers: unknown
    try {
      answers = this.#instance.execute(batch)
    } catch (error) {
      throw explainFault(error, this.#parts.blamed, 'in execute')
    }
    return answers instanceof Promise ? this.#wait(answers, batch) : this.#check(answers, batch)
  }

  async #wait(answers: Promise<unknown>, batch: Batch): Promise<BatchAnswers> {
    let ready: unknown
    try {
      ready = await answers
    } catch (error) {
      throw explainFault(error, this.#parts.blamed, 'in execute')
    }
    return this.#check(ready, batch)
  }

  #check(answers: unknown, batch: Batch): BatchAnswers {
    const { blamed } = this.#parts
    const checked = checkAnswers(answers, batch.requests.length, this.#outputs)
    if (checked === 'responded') return checked
    return checked.map((answer) => {
      return typeof answer === 'object' && 'error' in answer
        ? { error: explainFault(answer.error, blamed, 'to answer a request') }
        : answer
    })
  }

  close(): Promise<void> {
    this.#closed ??= closeQuietly(this.#parts, async () => this.#instance.close?.())
    return this.#closed
  }
}

async function attempt<T>(blamed: Blamed, doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw explainFault(error, blamed, doing)
  }
}

/** Whatever goes wrong at the end is for the log: the rest must be released all the same. */
async function closeQuietly({ blamed, context }: Parts, close: () => Promise<unknown>): Promise<void> {
  try {
    await close()
  } catch (error) {
    context.log('error', explainFault(error, blamed, 'in close').message)
  }
}

function requireMethod(value: unknown, method: string, { blamed, of }: { blamed: Blamed; of: string }): void {
  const object = asObject(value, blamed, `${of} must return an object with a method ${method}`)
  if (typeof object[method] === 'function') return
  throw new ConchError('INVALID_ARG', `backend '${blamed.name}': ${of} returned an object without a method ${method}`)
}

function asObject(value: unknown, { name }: Blamed, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>
  const got = value === null ? 'null' : typeof value
  throw new ConchError('INVALID_ARG', `backend '${name}': ${what}, got ${got}`)
}
