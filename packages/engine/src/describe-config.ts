import type { ModelConfig } from '@conch/protocol'
import { originsOf } from '@conch/protocol'
import type { ConfigValue, ValueOrigin } from './contract.ts'
import type { WrittenConfig } from './repository/contract.ts'

/** What the effective config is compared with. */
export interface Described {
  readonly config: ModelConfig
  readonly plan: { readonly config: ModelConfig; readonly written: WrittenConfig }
}

/** Every leaf of the effective config: written by somebody, a default, or found in the model's files. */
export function describeConfig({ config, plan }: Described): readonly ConfigValue[] {
  const written = leavesOf(plan.written.config)
  const polled = leavesOf(plan.config)
  const { tree, origin } = plan.written
  const places = tree === undefined ? undefined : originsOf(tree)
  return [...leavesOf(config)].map(([path, value]) => {
    return {
      path,
      value: toJsonSafe(value),
      origin: findOrigin({ path, value, written, polled, places, source: origin }),
    }
  })
}

interface Leaf {
  readonly path: string
  readonly value: unknown
  readonly written: ReadonlyMap<string, unknown>
  readonly polled: ReadonlyMap<string, unknown>
  /** What the text gives; undefined without a text. */
  readonly places: ReadonlyMap<string, unknown> | undefined
  readonly source: WrittenConfig['origin']
}

function findOrigin({ path, value, written, polled, places, source }: Leaf): ValueOrigin {
  if (places?.has(path) === true || places?.has(`${path}[0]`) === true) return 'file'
  // JSON leaves no places behind: a value that is not the default was written.
  if (source === 'override' && isSame(written.get(path), value) && !isBlank(value)) return 'override'
  if (isBlank(value)) return 'default'
  if (isSame(polled.get(path), value)) return 'default'
  return /^(instance_group|optimization|version_policy)\b/.test(path) ? 'default' : 'auto-complete'
}

function isBlank(value: unknown): boolean {
  return value === '' || value === 0 || value === 0n || value === false || (Array.isArray(value) && value.length === 0)
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || (Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((one, i) => one === b[i]))
}

/** Path → value; lists of scalars are one leaf. */
function leavesOf(config: ModelConfig): Map<string, unknown> {
  const leaves = new Map<string, unknown>()
  collect(config, '', leaves)
  return leaves
}

const MAPS = new Set([
  'cc_model_filenames',
  'metric_tags',
  'parameters',
  'input_map',
  'output_map',
  'inputs',
  'priority_queue_policy',
])

function collect(value: unknown, path: string, leaves: Map<string, unknown>): void {
  if (value === undefined) return
  if (Array.isArray(value) && value.some((one) => typeof one === 'object')) {
    for (const [index, one] of value.entries()) collect(one, `${path}[${index}]`, leaves)
  } else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const isMap = MAPS.has(path.slice(path.lastIndexOf('.') + 1))
    for (const [key, one] of Object.entries(value)) {
      const step = isMap ? `${path}[${JSON.stringify(key)}]` : path === '' ? key : `${path}.${key}`
      collect(one, step, leaves)
    }
  } else leaves.set(path, value)
}

function toJsonSafe(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  return Array.isArray(value) ? value.map(toJsonSafe) : value
}
