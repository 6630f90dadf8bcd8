import { UsageError } from './command-line.ts'

/** Units of a resource that instances share. */
export interface ResourceLimit {
  readonly name: string
  readonly count: number
  /** Undefined = of each device. */
  readonly device: number | undefined
}

export function parseRateLimit(text: string): 'execution_count' | 'off' {
  const mode = text.toLowerCase()
  if (mode !== 'execution_count' && mode !== 'off') {
    throw new UsageError('rate-limit', 'invalid argument for --rate-limit')
  }
  return mode
}

/** Reads `<name>:<count>[:<device>]`; of the same resource and device the smallest count stays (cli, rate limiter). */
export function parseResources(values: readonly string[]): readonly ResourceLimit[] {
  const limits = new Map<string, ResourceLimit>()
  for (const limit of values.map(parseResource)) {
    const key = `${limit.device ?? ''}:${limit.name}`
    const known = limits.get(key)
    if (known === undefined || limit.count < known.count) limits.set(key, limit)
  }
  return [...limits.values()]
}

function parseResource(text: string): ResourceLimit {
  const [name = '', count = '', device, ...rest] = text.split(':')
  const isWhole = (part: string) => /^\d{1,9}$/.test(part)
  if (name === '' || !isWhole(count) || (device !== undefined && !isWhole(device)) || rest.length > 0) {
    const format = "--rate-limit-resource option format is '<resource_name>:<count>:<device>'"
    throw new UsageError('rate-limit-resource', `${format}. Got ${text}`)
  }
  return { name, count: Number(count), device: device === undefined ? undefined : Number(device) }
}
