import { ConchError } from '@conch/protocol'
import type { Log } from '../observe/contract.ts'
import { isSegment, printPath } from './contain.ts'
import type { ServedVersion, TrafficReader } from './contract.ts'
import { writePrivateDirectory } from './override.ts'
import type { Found, Polled, Poller } from './polled.ts'
import { messageOf } from './reason.ts'
import type { Registry } from './registry.ts'
import { readTrafficFile } from './traffic-file.ts'

export interface ReadingParts<V extends ServedVersion> {
  readonly poller: Poller
  readonly registry: Registry<V>
  readonly log: Log
  readonly traffic?: TrafficReader | undefined
  /** While polling, one reason is logged once and not with every poll. */
  readonly polls: boolean
}

/** Reading models with the original's log lines and its one answer, to which the reason is appended. */
export class Reading<V extends ServedVersion> {
  readonly #parts: ReadingParts<V>

  constructor(parts: ReadingParts<V>) {
    this.#parts = parts
  }

  /** Where the model is: one place, several with namespacing. */
  find(model: string): Promise<readonly Found[]> {
    return this.#attempt(model, async () => {
      const { poller, registry } = this.#parts
      const found = await poller.find(model)
      if (found.length === 0) {
        throw new ConchError('NOT_FOUND', `failed to poll model '${model}': model not found in any model repository.`)
      }
      const [only] = found
      if (found.length === 1 && only !== undefined) {
        await this.#parts.traffic?.take(model, () => readTrafficFile(only.model))
        return found
      }
      if (registry.namespacing) return found
      const where = found.map(({ source }) => source.name).join(', ')
      const text = `failed to poll model '${model}': not unique across all model repositories`
      throw new ConchError('ALREADY_EXISTS', `${text} (${where})`)
    })
  }

  read(model: string, found: Found, override: string | undefined): Promise<Polled> {
    return this.#attempt(model, () => this.#parts.poller.read(model, found, override))
  }

  /** A model that came with the call, in a private directory of its own. */
  readFiles(model: string, config: string | undefined, files: ReadonlyMap<string, Uint8Array>): Promise<Polled> {
    return this.#attempt(model, async () => {
      if (config === undefined) {
        throw new ConchError('INVALID_ARG', "Load parameter 'config' must be specified for model file override")
      }
      const { directory, discard } = await writePrivateDirectory(files)
      try {
        return { ...(await this.#parts.poller.readPrivate(model, config, directory)), discard }
      } catch (error) {
        await discard()
        throw error
      }
    })
  }

  async #attempt<T>(model: string, read: () => Promise<T>): Promise<T> {
    try {
      return await read()
    } catch (cause) {
      const why = messageOf(cause)
      if (await this.#blame(model, why)) {
        const text = why.startsWith('failed to poll') ? why : `Poll failed for model directory '${model}': ${why}`
        this.#parts.log.write('error', text)
      }
      const text = `failed to load '${model}', failed to poll from model repository: ${why}`
      throw new ConchError('INTERNAL', text, { cause })
    }
  }

  /** Notes why a model could not be read. Returns whether that is worth a log line. */
  async #blame(model: string, why: string): Promise<boolean> {
    const { poller, registry, polls } = this.#parts
    const roots = await poller.holders(model)
    if (roots.length > 1 && !registry.namespacing) return true
    const records = roots.map(({ root }) => registry.touch(model, root))
    const fresh = !polls || records.length === 0 || records.some((record) => record.pollError !== why)
    for (const record of records) record.pollError = why
    return fresh
  }
}

/** Front door §5.2: names are names, not paths. */
export function checkName(model: string): void {
  if (model.trim() === '') {
    throw new ConchError('INVALID_ARG', 'Model name cannot be empty. Please enter a valid name to deploy.')
  }
  if (!isSegment(model)) {
    const rule = 'model name must not contain path traversal characters'
    throw new ConchError('INVALID_ARG', `invalid model name '${printPath(model)}', ${rule}`)
  }
}
