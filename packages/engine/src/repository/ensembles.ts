import { ConchError } from '@conch/protocol'
import type { ModelConfig } from '@conch/protocol'
import type { ServedVersion, StepName, VersionBuilder } from './contract.ts'
import { messageOf } from './reason.ts'
import type { ModelRecord } from './record.ts'
import type { Registry } from './registry.ts'

/** Which ensembles stand on which models, among what is loaded. */
export class Ensembles<V extends ServedVersion> {
  readonly #registry: Registry<V>
  readonly #builder: VersionBuilder<V>

  constructor(registry: Registry<V>, builder: VersionBuilder<V>) {
    this.#registry = registry
    this.#builder = builder
  }

  /** Names of the models that a loaded one is made of. */
  stepsOf(record: ModelRecord<V>): readonly string[] {
    return record.loaded === undefined ? [] : this.namesIn(record.loaded.config)
  }

  namesIn(config: ModelConfig): readonly string[] {
    return [...new Set(this.#builder.stepsOf(config).map(({ model }) => model))]
  }

  /** Loaded ensembles that need the model, directly or through others; nearest first. */
  usersOf(model: string): readonly ModelRecord<V>[] {
    const users = new Set<ModelRecord<V>>()
    const open = [model]
    for (let name = open.shift(); name !== undefined; name = open.shift()) {
      for (const record of this.#registry.all()) {
        if (users.has(record) || !this.stepsOf(record).includes(name)) continue
        users.add(record)
        open.push(record.name)
      }
    }
    return [...users]
  }

  /** Every model below one, itself not included. */
  closureOf(model: string): readonly string[] {
    const names = new Set<string>()
    const open = [model]
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      for (const step of this.#registry.named(name).flatMap((record) => this.stepsOf(record))) {
        if (!names.has(step)) open.push(step)
        names.add(step)
      }
    }
    names.delete(model)
    return [...names]
  }

  /** Throws the original's texts when the steps of a config do not serve or do not fit. `failures`: by model. */
  check(config: ModelConfig, failures: ReadonlyMap<string, unknown> = new Map()): void {
    const steps = this.#builder.stepsOf(config)
    if (steps.length === 0) return
    const absent = steps.filter(({ model }) => this.#registry.named(model).every(({ versions }) => versions.size === 0))
    if (absent.length > 0) {
      const names = [...new Set(absent.map(({ model }) => model))].toSorted((a, b) => (a < b ? -1 : 1)).join(', ')
      const text = `ensemble ${config.name} contains models that are not available or ambiguous: ${names}`
      throw new ConchError('INVALID_ARG', text)
    }
    const served = steps.map((step) => this.#find(config.name, step, failures.get(step.model)))
    this.#builder.checkSteps(config, served)
  }

  #find(ensemble: string, step: StepName, failure: unknown): V {
    try {
      return this.#registry.find(step.model, step.version)
    } catch (cause) {
      const what = `ensemble '${ensemble}' depends on '${step.model}'`
      const known = this.#registry.named(step.model).some((record) => record.serves)
      if (known)
        throw new ConchError('INVALID_ARG', `${what} whose required version ${step.version} is not loaded.`, { cause })
      const why =
        failure === undefined ? '' : ` Model '${step.model}' loading failed with error: ${messageOf(failure).trim()}`
      throw new ConchError('INVALID_ARG', `${what} which has no loaded version.${why}`, { cause })
    }
  }
}

/**
 * The models below an ensemble in the order in which they must be loaded, itself last. `read` tells the steps of a model;
 * throws when they go round in a circle.
 */
export async function orderSteps(
  model: string,
  steps: readonly string[],
  read: (model: string) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const order = new Set<string>()
  const visit = async (name: string, below: readonly string[], path: readonly string[]): Promise<void> => {
    for (const step of below) {
      if (step === model || path.includes(step)) {
        const text = `circular dependency between ensembles: ${step} -> ... -> ${name} -> ${step}`
        throw new ConchError('INVALID_ARG', text)
      }
      if (!order.has(step)) await visit(step, await read(step), [...path, step])
    }
    order.add(name)
  }
  await visit(model, steps, [model])
  return [...order]
}
