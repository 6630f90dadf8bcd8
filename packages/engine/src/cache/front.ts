import type { InferResponse, Parameters, Tensor } from '@conch/protocol'
import type { AnswerKeeper, Flight } from '../request.ts'
import type { CacheStore } from './contract.ts'
import { makeKey, nameOutputs } from './key.ts'

/** What responses from the cache carry beside their tensors: the original does not keep parameters (cache §3). */
const NO_PARAMETERS: Parameters = {}

export interface FrontParts {
  readonly model: string
  readonly version: string
  /** What the version's entries are filed under. */
  readonly scope: string
  /** Names of all outputs. */
  readonly outputs: ReadonlySet<string>
  /** What else answers depend on and may change meanwhile: the scopes of an ensemble's steps. May throw. */
  readonly below: () => string
  /** Runs the request; must not throw. */
  readonly run: (flight: Flight) => void
  /** Answers the request in its turn. */
  readonly answer: (flight: Flight, response: InferResponse) => void
  readonly complain: (text: string) => void
}

/**
 * The cache in front of one version's schedule. A hit is answered without it: no limit, priority or timeout applies. A
 * miss runs, and its answer is kept before its client sees it. What goes wrong here costs the hit, never the request.
 */
export class CacheFront {
  readonly #store: CacheStore
  readonly #parts: FrontParts

  constructor(store: CacheStore, parts: FrontParts) {
    this.#store = store
    this.#parts = parts
  }

  serve(flight: Flight): void {
    const start = performance.now()
    flight.timings.queued = start
    let key: string
    let found: ReturnType<CacheStore['lookup']>
    try {
      key = this.#makeKey(flight)
      found = this.#store.lookup(key)
    } catch (error) {
      this.#parts.complain(describe(error))
      this.#parts.run(flight)
      return
    }
    if (found instanceof Promise) void this.#serveLater(flight, key, found)
    else this.#finish(flight, key, found)
  }

  #makeKey({ request }: Flight): string {
    const { scope, below, outputs } = this.#parts
    return `${scope}:${makeKey(request, below() + nameOutputs(request, outputs), this.#store.lasting)}`
  }

  async #serveLater(flight: Flight, key: string, found: Promise<readonly Tensor[] | undefined>): Promise<void> {
    let outputs: readonly Tensor[] | undefined
    try {
      outputs = await found
    } catch (error) {
      this.#parts.complain(describe(error))
    }
    if (flight.signal?.aborted === true) flight.cancel()
    else this.#finish(flight, key, outputs)
  }

  #finish(flight: Flight, key: string, outputs: readonly Tensor[] | undefined): void {
    const { timings } = flight
    const ms = performance.now() - timings.queued
    if (outputs === undefined) {
      flight.keeper = new Keeper({ store: this.#store, flight, key, lookupMs: ms, complain: this.#parts.complain })
      this.#parts.run(flight)
      return
    }
    flight.cache = { hit: true, ms }
    // It waited for nothing and ran nowhere.
    timings.computeStart = timings.queued
    timings.computeInputEnd = timings.queued
    timings.computeOutputStart = timings.queued
    timings.computeEnd = timings.queued
    const { model, version, answer } = this.#parts
    answer(flight, { model, version, id: flight.request.id, parameters: NO_PARAMETERS, outputs })
  }
}

interface KeeperParts {
  readonly store: CacheStore
  readonly flight: Flight
  readonly key: string
  readonly lookupMs: number
  readonly complain: (text: string) => void
}

/** Keeps the answer of one request that missed. */
class Keeper implements AnswerKeeper {
  readonly #parts: KeeperParts

  constructor(parts: KeeperParts) {
    this.#parts = parts
  }

  keep(response: InferResponse): void {
    const { store, flight, key, lookupMs } = this.#parts
    const start = performance.now()
    let known = false
    try {
      const inserted = store.insert(key, response.outputs)
      if (inserted instanceof Promise) inserted.catch((error: unknown) => this.#complain(error))
      else known = inserted === 'known'
    } catch (error) {
      this.#complain(error)
    }
    // Another request that missed as well was quicker: the original counts one miss for both (cache §3).
    if (!known) flight.cache = { hit: false, ms: lookupMs + performance.now() - start }
  }

  #complain(error: unknown): void {
    // A key may be the request's own bytes.
    const key = JSON.stringify(this.#parts.key).slice(1, 60)
    this.#parts.complain(`Failed to insert key [${key}] into response cache: ${describe(error)}`)
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
