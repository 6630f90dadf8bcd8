import { ConchError } from '@conch/protocol'
import type { ModelConfig } from '@conch/protocol'
import type { Log } from '../observe/contract.ts'
import type { CacheNumbers, CacheSettings, CacheStore } from './contract.ts'
import { fingerprint } from './fingerprint.ts'
import type { Made } from './fingerprint.ts'
import { CacheFront } from './front.ts'
import type { FrontParts } from './front.ts'
import { createLocalCache } from './local.ts'

/** Complaints of one kind come at most this often, milliseconds: a store that is down has one for every request. */
const PAUSE = 1_000

/** The server's response cache, or that there is none. */
export class ResponseCache {
  readonly #settings: CacheSettings | undefined
  readonly #log: Log
  #store: CacheStore | undefined = undefined
  #loads = 0
  #quietUntil = 0
  #withheld = 0

  constructor(settings: CacheSettings | undefined, log: Log) {
    this.#settings = settings
    this.#log = log
  }

  /** Throws the original's texts for settings that do not work. */
  async open(): Promise<void> {
    if (this.#settings === undefined || this.#store !== undefined) return
    this.#store = await openStore(this.#settings, this.#log)
  }

  /** Whether answers of such a model are kept; a model that asks for it on a server without a cache is served without. */
  serves(config: ModelConfig): boolean {
    return this.#store !== undefined && config.response_cache?.enable === true
  }

  /** What the entries of a version are filed under; '' when nothing is kept. */
  async nameScope(made: Made): Promise<string> {
    if (this.#store === undefined) return ''
    this.#loads += 1
    return this.#store.lasting ? fingerprint(made) : String(this.#loads)
  }

  /** Undefined when the server has no cache. */
  createFront(parts: Omit<FrontParts, 'complain'>): CacheFront | undefined {
    if (this.#store === undefined) return undefined
    return new CacheFront(this.#store, { ...parts, complain: (text) => this.#complain(text) })
  }

  /** The version is gone, and with it what it answered. */
  forget(scope: string): void {
    this.#store?.forget(scope)
  }

  get numbers(): CacheNumbers | undefined {
    return this.#store?.numbers
  }

  async close(): Promise<void> {
    await this.#store?.close()
  }

  #complain(text: string): void {
    const now = performance.now()
    if (now < this.#quietUntil) {
      this.#withheld += 1
      return
    }
    const more = this.#withheld === 0 ? '' : ` (and ${this.#withheld} more since the last such line)`
    this.#quietUntil = now + PAUSE
    this.#withheld = 0
    this.#log.write('error', text + more)
  }
}

async function openStore({ name, settings }: CacheSettings, log: Log): Promise<CacheStore> {
  if (name === 'local') {
    log.write('info', `Initializing LocalCache with config: ${JSON.stringify(settings)}`)
    const cache = createLocalCache(settings)
    log.write('info', `Response Cache is created with size ${settings['size'] ?? ''}`)
    return cache
  }
  if (name === 'redis') {
    // Its client is read only where it is needed.
    const { createRedisCache } = await import('./redis.ts')
    const cache = await createRedisCache(settings, (text) => log.write('warning', text))
    log.write('info', 'Triton RedisCache client connected')
    return cache
  }
  throw new ConchError(
    'INVALID_ARG',
    `unable to find 'libtritoncache_${name}.so' for cache. This build has: local, redis`,
  )
}
