import { UsageError } from './command-line.ts'

/** Categories of `--http-restricted-api` (reference: http §1.4). */
export type ApiGroup =
  | 'health'
  | 'metadata'
  | 'inference'
  | 'shared-memory'
  | 'model-config'
  | 'model-repository'
  | 'statistics'
  | 'trace'
  | 'logging'

const API_GROUPS: ReadonlySet<string> = new Set<ApiGroup>([
  'health',
  'metadata',
  'inference',
  'shared-memory',
  'model-config',
  'model-repository',
  'statistics',
  'trace',
  'logging',
])

/** The header a caller must show, and its exact value. */
export interface Restriction {
  readonly header: string
  readonly value: string
}

/** Reads `<apis>:<key>=<value>`, once per occurrence. `kind` is the word of the messages: api or protocol. */
export function parseRestrictions(
  flag: string,
  values: readonly string[],
  kind: 'api' | 'protocol',
): ReadonlyMap<ApiGroup, Restriction> {
  const groups = new Map<ApiGroup, Restriction>()
  for (const text of values) {
    const colon = text.indexOf(':')
    const equals = text.indexOf('=', colon + 1)
    if (colon <= 0 || equals <= colon + 1) {
      throw new UsageError(flag, `--${flag} option format is '<config name>:<setting>=<value>'. Got ${text}`)
    }
    const restriction = { header: text.slice(colon + 1, equals), value: text.slice(equals + 1) }
    for (const name of text.slice(0, colon).split(',')) {
      if (!isApiGroup(name)) throw new UsageError(flag, `unknown restricted ${kind} '${name}'`)
      if (groups.has(name))
        throw new UsageError(flag, `restricted ${kind} '${name}' can not be specified in multiple config groups`)
      groups.set(name, restriction)
    }
  }
  return groups
}

function isApiGroup(name: string): name is ApiGroup {
  return API_GROUPS.has(name)
}

/** A setting of `--backend-config`, `--trace-config` or `--metrics-config`; owner '' = all. */
export interface OwnedSetting {
  readonly owner: string
  readonly name: string
  readonly value: string
}

/** Reads `<owner>,<setting>=<value>` or `<setting>=<value>`. `what` names the owner in the messages, e.g. "backend name". */
export function parseOwnedSetting(flag: string, text: string, what: string): OwnedSetting {
  const comma = text.indexOf(',')
  const equals = text.indexOf('=', comma + 1)
  const format = `--${flag} option format is <${what}>,<setting>=<value> or <setting>=<value>. Got ${text}`
  if (comma === 0) throw new UsageError(flag, `No ${what.split(' ')[0] ?? what} specified. ${format}`)
  if (equals < 0) throw new UsageError(flag, format)
  const setting = {
    owner: text.slice(0, Math.max(comma, 0)),
    name: text.slice(comma + 1, equals),
    value: text.slice(equals + 1),
  }
  if (setting.name === '' || setting.value === '') throw new UsageError(flag, format)
  return setting
}

/** Reads `<setting>=<value>`; a part before a comma names a consumer that does not exist and is kept apart. */
export function parseMetricsSetting(text: string): OwnedSetting {
  const comma = text.indexOf(',')
  const equals = text.indexOf('=')
  const named = comma > 0 && comma < equals
  const setting = {
    owner: named ? text.slice(0, comma) : '',
    name: text.slice(named ? comma + 1 : 0, equals),
    value: text.slice(equals + 1),
  }
  if (equals < 0 || comma === 0 || setting.name === '' || setting.value === '') {
    throw new UsageError('metrics-config', `--metrics-config option format is <setting>=<value>. Got ${text}`)
  }
  return setting
}

/** owner → setting → value; the last one given wins. */
export function groupSettings(settings: readonly OwnedSetting[]): Record<string, Record<string, string>> {
  const groups: Record<string, Record<string, string>> = Object.create(null) as Record<string, Record<string, string>>
  for (const { owner, name, value } of settings) {
    const group = (groups[owner] ??= Object.create(null) as Record<string, string>)
    group[name] = value
  }
  return groups
}

/** Checks `<gpu>:<value>`: two numbers. */
export function checkParts(flag: string, text: string, format: string): void {
  const parts = text.split(':')
  if (parts.length === 2 && parts.every((part) => /^\d+(\.\d+)?$/.test(part))) return
  throw new UsageError(flag, `--${flag} option format is '${format}'. Got ${text}`)
}

export function checkHostPolicy(text: string): void {
  if (/^[^,]+,[^=]+=.+$/.test(text)) return
  throw new UsageError('host-policy', `--host-policy option format is '<policy name>,<setting>=<value>'. Got ${text}`)
}

const COMPRESSION_LEVELS = ['none', 'low', 'medium', 'high']

export function checkGrpc(threads: number, compression: string): void {
  if (threads < 2 || threads > 128) {
    throw new UsageError(
      'grpc-infer-thread-count',
      'invalid argument for --grpc-infer-thread-count. Must be in the range 2 to 128.',
    )
  }
  if (COMPRESSION_LEVELS.includes(compression)) return
  throw new UsageError(
    'grpc-infer-response-compression-level',
    `invalid argument for --grpc-infer-response-compression-level, got: ${compression}`,
  )
}
