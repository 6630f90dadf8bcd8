import { parseTrafficPolicy, parseTrafficText, printTrafficPolicy } from '@conch/protocol'
import type { InferRequest, TrafficPolicy } from '@conch/protocol'
import type { Log } from '../observe/contract.ts'
import type { HeaderFinder, ModelVersions, Route, TrafficEvent, TrafficView } from './contract.ts'
import { ModelTraffic } from './model-traffic.ts'

export interface TrafficParts {
  readonly log: Log
  readonly versions: (model: string) => ModelVersions
  /** Puts the text into the model's repository, in one step; undefined removes the file. */
  readonly write: (model: string, text: string | undefined) => Promise<void>
}

/** A policy and the text it came from. */
interface Entry {
  readonly traffic: ModelTraffic
  /** As last read or written; what is read again changes nothing. */
  text: string
}

/** The traffic policies of all models. A model without one costs a request one look into an empty map. */
export class Traffic {
  readonly #parts: TrafficParts
  readonly #entries = new Map<string, Entry>()
  readonly #listeners = new Set<(event: TrafficEvent) => void>()
  /** Reads and writes of one model's file follow one another. */
  readonly #turns = new Map<string, Promise<unknown>>()

  constructor(parts: TrafficParts) {
    this.#parts = parts
  }

  /** Picks the version of a request that names none; undefined = the highest that is ready, as ever. */
  route(request: InferRequest, headers: HeaderFinder | undefined): Route | undefined {
    if (request.version !== '' || this.#entries.size === 0) return undefined
    return this.#entries.get(request.model)?.traffic.route(request, headers)
  }

  /** The number that a label stands for, and the version that answers for a model without one. */
  nameVersion(model: string, version: string): string {
    if (this.#entries.size === 0) return version
    return this.#entries.get(model)?.traffic.nameVersion(version) ?? version
  }

  findLabel(model: string, label: string): string | undefined {
    return this.#entries.get(model)?.traffic.policy.labels[label]
  }

  /** Takes what the model's file holds now; undefined = there is none. Throws every problem; then what was stays. */
  take(model: string, read: () => Promise<string | undefined>): Promise<void> {
    return this.#inTurn(model, async () => {
      const text = await read()
      if (text === this.#entries.get(model)?.text) return
      this.#apply(model, { policy: text === undefined ? undefined : parseTrafficText(text), text }, 'file')
    })
  }

  /** Writes a policy and applies it; undefined removes it. Throws every problem; then nothing has changed. */
  async set(model: string, written: unknown): Promise<void> {
    const policy = written === undefined ? undefined : parseTrafficPolicy(written)
    await this.#inTurn(model, async () => {
      const text = policy && printTrafficPolicy(policy)
      await this.#parts.write(model, text)
      this.#apply(model, { policy, text }, 'call')
    })
  }

  /** Takes a version's requests away. Resolves when that is written down; it holds from this moment on. */
  async rollBack(model: string, version: string, about: Pick<TrafficEvent, 'by' | 'reason'>): Promise<void> {
    const entry = this.#entries.get(model)
    if (entry === undefined) return
    const { traffic } = entry
    const { policy } = traffic
    if (policy.rolledBack.some((gone) => gone.version === version)) return
    const at = new Date()
    const rolledBack = [...policy.rolledBack, { version, reason: about.reason, at: at.toISOString() }]
    traffic.replan({ ...policy, rolledBack })
    traffic.rollbacks += 1
    const to = policy.rollback?.to.version ?? ''
    const where = to === '' || to === version ? 'taken off' : `rolled back to ${to}`
    const text = `traffic: model '${model}' version ${version} ${where}: ${about.reason}`
    this.#parts.log.write('warning', text, { model, version })
    this.#tell({ model, change: 'rolled back', version, ...about, at: at.getTime() })
    await this.#inTurn(model, () => this.#writeDown(model, entry))
  }

  /** So that it holds after a restart; a repository that cannot be written to does not undo it. */
  async #writeDown(model: string, entry: Entry): Promise<void> {
    if (this.#entries.get(model) !== entry) return
    const text = printTrafficPolicy(entry.traffic.policy)
    try {
      await this.#parts.write(model, text)
      entry.text = text
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      this.#parts.log.write('warning', `traffic: the rollback of model '${model}' holds until the server ends: ${why}`)
    }
  }

  /** Resolves when all that was decided is written down. Copies under way are cancelled. */
  async stop(): Promise<void> {
    for (const { traffic } of this.#entries.values()) traffic.stop()
    await Promise.all(this.#turns.values())
  }

  view(model: string): TrafficView | undefined {
    return this.#entries.get(model)?.traffic.view()
  }

  views(): readonly TrafficView[] {
    return Array.from(this.#entries.values(), ({ traffic }) => traffic.view())
  }

  listen(listener: (event: TrafficEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  #apply(
    model: string,
    now: { policy: TrafficPolicy | undefined; text: string | undefined },
    by: 'file' | 'call',
  ): void {
    const known = this.#entries.get(model)
    const event = { model, by, version: '', reason: '', at: Date.now() }
    if (now.policy === undefined || now.text === undefined) {
      known?.traffic.stop()
      if (!this.#entries.delete(model)) return
      this.#parts.log.write('info', `traffic: model '${model}' has no policy any more`)
      this.#tell({ ...event, change: 'removed' })
      return
    }
    if (known === undefined) {
      const onVerdict = (version: string, reason: string) =>
        void this.rollBack(model, version, { by: 'policy', reason })
      const traffic = new ModelTraffic(model, now.policy, { versions: this.#parts.versions(model), onVerdict })
      this.#entries.set(model, { traffic, text: now.text })
    } else {
      known.traffic.set(now.policy)
      known.text = now.text
    }
    this.#parts.log.write('info', `traffic: model '${model}' ${describe(now.policy)}`)
    this.#tell({ ...event, change: 'set' })
  }

  #inTurn<T>(model: string, work: () => Promise<T>): Promise<T> {
    const mine = (this.#turns.get(model) ?? Promise.resolve()).then(work)
    const settled = mine.then(
      () => undefined,
      () => undefined,
    )
    this.#turns.set(model, settled)
    void settled.then(() => this.#turns.get(model) === settled && this.#turns.delete(model))
    return mine
  }

  #tell(event: TrafficEvent): void {
    for (const listener of this.#listeners) listener(event)
  }
}

function describe({ labels, split, shadow, rolledBack }: TrafficPolicy): string {
  const parts = [
    ...Object.entries(labels).map(([label, version]) => `${label} is ${version}`),
    ...split.map(({ version, weight }) => `${weight} % to ${version}`),
    ...(shadow === undefined ? [] : [`${shadow.percent} % copied to ${shadow.version}`]),
    ...rolledBack.map(({ version, reason }) => `${version} rolled back (${reason})`),
  ]
  return parts.length === 0 ? 'has an empty policy' : parts.join(', ')
}
