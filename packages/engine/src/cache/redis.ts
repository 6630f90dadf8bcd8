import { readFile } from 'node:fs/promises'
import { createClient, RESP_TYPES } from '@redis/client'
import type { Tensor } from '@conch/protocol'
import { ConchError } from '@conch/protocol'
import type { CacheStore } from './contract.ts'
import { decodeEntry, encodeEntry } from './entry.ts'

type Settings = Readonly<Record<string, string>>

/** Bytes on their way to Redis; what would exceed them is not kept. */
const MAX_UNSENT = 64 * 2 ** 20
/** Longest pause between attempts to reconnect, milliseconds. */
const MAX_PAUSE = 2_000
/** After a command that was not answered in time, nothing is asked for so long, milliseconds. */
const REST = 1_000

/** One connection, commands pipelined. Text for keys, bytes for values. */
function createConnection(settings: Settings, socket: ReturnType<typeof describeSocket>) {
  return createClient({
    RESP: 2,
    socket,
    database: Number(settings['db'] ?? 0),
    // A request never waits for Redis to come back.
    disableOfflineQueue: true,
    disableClientInfo: true,
    ...(settings['user'] === undefined ? {} : { username: settings['user'] }),
    ...(settings['password'] === undefined ? {} : { password: settings['password'] }),
  }).withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
}

interface Endpoint {
  readonly host: string
  readonly port: number
}

/** Responses in a Redis server, shared by all who serve the same files of a version; kept as its own policy says. */
export class RedisCache implements CacheStore {
  readonly lasting = true
  readonly #client: ReturnType<typeof createConnection>
  readonly #patience: number
  readonly #expiry: { expiration: { type: 'EX'; value: number } } | undefined
  #unsent = 0
  #restsUntil = 0

  constructor(client: ReturnType<typeof createConnection>, settings: Settings) {
    const seconds = readNumber(settings, 'ttl', 0)
    this.#client = client
    this.#patience = readNumber(settings, 'socket_timeout', 0) || readNumber(settings, 'wait_timeout', 1_000)
    this.#expiry = seconds > 0 ? { expiration: { type: 'EX', value: seconds } } : undefined
  }

  async lookup(key: string): Promise<readonly Tensor[] | undefined> {
    const entry = await this.#ask('retriev', key, () => this.#client.get(nameKey(key)))
    return entry === null ? undefined : decodeEntry(entry)
  }

  insert(key: string, outputs: readonly Tensor[]): Promise<void> {
    const entry = encodeEntry(outputs)
    if (this.#unsent + entry.length > MAX_UNSENT) {
      throw new ConchError('UNAVAILABLE', `more than ${MAX_UNSENT} bytes are on their way to Redis`)
    }
    return this.#send(key, entry)
  }

  async #send(key: string, entry: Buffer): Promise<void> {
    this.#unsent += entry.length
    try {
      await this.#ask('insert', key, () => this.#client.set(nameKey(key), entry, this.#expiry))
    } finally {
      this.#unsent -= entry.length
    }
  }

  /** Whoever serves the same files elsewhere still needs the entries. */
  forget(): void {}

  async close(): Promise<void> {
    this.#client.destroy()
    return Promise.resolve()
  }

  async #ask<T>(what: 'retriev' | 'insert', key: string, command: () => Promise<T>): Promise<T> {
    if (performance.now() < this.#restsUntil) throw new ConchError('UNAVAILABLE', 'Redis did not answer in time lately')
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        this.#restsUntil = performance.now() + REST
        reject(new ConchError('UNAVAILABLE', `Timeout ${what}ing key: ${key}. No answer in ${this.#patience} ms`))
      }, this.#patience)
    })
    try {
      return await Promise.race([command(), late])
    } catch (cause) {
      if (cause instanceof ConchError) throw cause
      const verb = what === 'insert' ? 'insert' : 'retrieve'
      throw new ConchError('UNAVAILABLE', `Failed to ${verb} key: ${key}. ${describe(cause)}`, { cause })
    } finally {
      clearTimeout(timer)
    }
  }
}

function nameKey(key: string): string {
  return `conch:response:${key}`
}

/** Connects and pings. Throws the original's texts (cache §8). `note` is told of outages, once each. */
export async function createRedisCache(settings: Settings, note: (text: string) => void): Promise<RedisCache> {
  const endpoint = readEndpoint(settings)
  const connection = { up: false, lost: false }
  const connectTimeout = readConnectTimeout(settings)
  const more = { ...(await readTls(settings)), ...(connectTimeout === undefined ? {} : { connectTimeout }) }
  const socket = describeSocket(endpoint, more, connection)
  const client = createConnection(settings, socket)
  client.on('error', (error) => {
    if (!connection.up || connection.lost) return
    connection.lost = true
    note(`Redis response cache: the connection is lost, requests run without it: ${describe(error)}`)
  })
  client.on('ready', () => {
    if (connection.lost) note('Redis response cache: connected again')
    connection.lost = false
  })
  try {
    await client.connect()
    await client.ping()
  } catch (cause) {
    if (client.isOpen) client.destroy()
    const text = `failed to connect to Redis (${endpoint.host}:${endpoint.port}): ${describe(cause)}`
    throw new ConchError('INTERNAL', `Failed to initialize RedisCache: ${text}`, { cause })
  }
  connection.up = true
  return new RedisCache(client, settings)
}

/** Undefined = the client's own. */
function readConnectTimeout(settings: Settings): number | undefined {
  const ms = readNumber(settings, 'connect_timeout', 0)
  return ms > 0 ? ms : undefined
}

function describeSocket(endpoint: Endpoint, more: object, connection: { up: boolean }) {
  return {
    ...endpoint,
    ...more,
    reconnectStrategy: (retries: number) => connection.up && Math.min(50 * 2 ** Math.min(retries, 10), MAX_PAUSE),
  }
}

function readEndpoint(settings: Settings): Endpoint {
  const { host, port } = settings
  if (host === undefined || port === undefined) {
    const text =
      "didn't specify address. Must at a minimum specify 'host' and 'port' in the configuration - e.g. tritonserver " +
      '--cache-config redis,host=redis --cache-config redis,port=6379 --model-repository=/models ...'
    throw new ConchError('INVALID_ARG', `Failed to initialize RedisCache, ${text}`)
  }
  return { host, port: readNumber(settings, 'port', 0) }
}

function readNumber(settings: Settings, name: string, fallback: number): number {
  const text = settings[name]
  if (text === undefined) return fallback
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw new ConchError('INVALID_ARG', `Failed to initialize RedisCache: ${name} must be a number, got '${text}'`)
}

async function readTls(settings: Settings): Promise<object> {
  if (settings['tls_enabled'] !== 'true') return {}
  if (settings['cacert_dir'] !== undefined) {
    throw new ConchError('UNSUPPORTED', 'Failed to initialize RedisCache: name one file with cacert, not cacert_dir')
  }
  const parts: Record<string, unknown> = { tls: true }
  for (const [setting, option] of [
    ['cert', 'cert'],
    ['key', 'key'],
    ['cacert', 'ca'],
  ] as const) {
    const path = settings[setting]
    if (path !== undefined) parts[option] = await readFile(path)
  }
  if (settings['sni'] !== undefined) parts['servername'] = settings['sni']
  return parts
}

function describe(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(describe).join('; ')
  return error instanceof Error ? error.message : String(error)
}
