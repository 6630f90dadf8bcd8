import { UsageError } from './command-line.ts'

/** The response cache of `--cache-config`: its name and its settings. */
export interface CacheChoice {
  readonly name: string
  readonly settings: Readonly<Record<string, string>>
}

/** What was given: `--cache-config`, and the bytes of the old flag, undefined when it was not given. */
export interface CacheFlags {
  readonly config: readonly string[]
  readonly bytes: number | undefined
}

/** Undefined = no cache. Throws the original's texts (cache §1). Redis takes its credentials from the environment too. */
export function parseCache(
  flags: CacheFlags,
  env: Readonly<Record<string, string | undefined>>,
): CacheChoice | undefined {
  const given = flags.config.map(parseCacheSetting)
  const [first] = given
  if (given.some(({ owner }) => owner !== first?.owner)) {
    throw new UsageError(
      'cache-config',
      'found multiple cache configurations, but only a single cache is currently supported',
    )
  }
  if (first === undefined) {
    return flags.bytes === undefined || flags.bytes <= 0
      ? undefined
      : { name: 'local', settings: { size: String(flags.bytes) } }
  }
  if (flags.bytes !== undefined) {
    throw new UsageError(
      'cache-config',
      'Incompatible flags --response-cache-byte-size and --cache-config both provided. Please provide one or the other.',
    )
  }
  const settings = Object.fromEntries(given.map(({ name, value }) => [name, value]))
  return { name: first.owner, settings: first.owner === 'redis' ? { ...readCredentials(env), ...settings } : settings }
}

function parseCacheSetting(text: string): { owner: string; name: string; value: string } {
  const format = `--cache-config option format is <cache name>,<setting>=<value>. Got ${text}`
  const comma = text.indexOf(',')
  if (comma <= 0) throw new UsageError('cache-config', `No cache specified. ${format}`)
  const equals = text.indexOf('=', comma + 1)
  const setting = { owner: text.slice(0, comma), name: text.slice(comma + 1, equals), value: text.slice(equals + 1) }
  if (equals < 0 || setting.name === '' || setting.value === '') throw new UsageError('cache-config', format)
  return setting
}

function readCredentials(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const user = env['TRITONCACHE_REDIS_USERNAME']
  const password = env['TRITONCACHE_REDIS_PASSWORD']
  return { ...(user ? { user } : {}), ...(password ? { password } : {}) }
}
