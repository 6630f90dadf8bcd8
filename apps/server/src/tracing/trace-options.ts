import { parseInteger, UsageError } from '../command-line.ts'
import type { Environment, Values } from '../option-values.ts'
import { parseOwnedSetting } from '../settings.ts'
import { parseCollector } from './collector-options.ts'
import type { CollectorOptions } from './collector-options.ts'

export type TraceLevel = 'TIMESTAMPS' | 'TENSORS'

/** What `--trace-config` and the old flags say (reference: trace-logging §1, §3). */
export interface TraceOptions {
  readonly mode: 'triton' | 'opentelemetry'
  /** Empty = OFF. */
  readonly level: readonly TraceLevel[]
  readonly rate: number
  /** −1 = no limit. */
  readonly count: number
  readonly logFrequency: number
  /** '' = none. */
  readonly file: string
  readonly collector: CollectorOptions
}

export const MODES = ['triton', 'opentelemetry'] as const

interface Given {
  readonly owner: string
  readonly name: string
  readonly value: string
}

/** Old flag → the setting that it stands for. */
const OLD_FLAGS = [
  ['trace-file', 'triton', 'file'],
  ['trace-level', '', 'level'],
  ['trace-rate', '', 'rate'],
  ['trace-count', '', 'count'],
  ['trace-log-frequency', 'triton', 'log-frequency'],
] as const

/** Throws UsageError for what makes no sense by itself; what does not fit together fails the start. */
export function parseTrace(values: Values, env: Environment): TraceOptions {
  const given = readGiven(values)
  const of = (owner: string, name: string) =>
    given.filter((one) => one.owner === owner && one.name === name).map(({ value }) => value)
  const last = (owner: string, name: string) => of(owner, name).at(-1)
  return {
    mode: parseMode(last('', 'mode') ?? 'triton'),
    level: parseLevels(of('', 'level')),
    rate: parseNumber('rate', last('', 'rate') ?? '1000', 0),
    count: parseNumber('count', last('', 'count') ?? '-1', -1),
    logFrequency: parseNumber('log-frequency', last('triton', 'log-frequency') ?? '0', 0),
    file: last('triton', 'file') ?? '',
    collector: parseCollector((name) => of('opentelemetry', name), env),
  }
}

/** An old flag counts where `--trace-config` does not say the same thing. */
function readGiven(values: Values): readonly Given[] {
  const given = values.all('trace-config').map((text) => {
    const setting = parseOwnedSetting('trace-config', text, 'trace mode')
    if (setting.owner === '') return setting
    return { ...setting, owner: parseMode(setting.owner) }
  })
  const old = OLD_FLAGS.flatMap(([flag, owner, name]) => {
    if (given.some((one) => one.owner === owner && one.name === name)) return []
    return values.all(flag).map((value) => ({ owner, name, value }))
  })
  return [...given, ...old]
}

function parseMode(text: string): TraceOptions['mode'] {
  const mode = MODES.find((known) => known === text.toLowerCase())
  if (mode !== undefined) return mode
  throw new UsageError('trace-config', `invalid value for trace mode option: ${text}`)
}

const OFF: ReadonlySet<string> = new Set(['off', 'false'])
const LEVELS: Readonly<Record<string, TraceLevel>> = {
  true: 'TIMESTAMPS',
  on: 'TIMESTAMPS',
  min: 'TIMESTAMPS',
  max: 'TIMESTAMPS',
  timestamps: 'TIMESTAMPS',
  tensors: 'TENSORS',
}

/** An OFF anywhere wins. */
function parseLevels(texts: readonly string[]): readonly TraceLevel[] {
  const found = new Set<TraceLevel>()
  let off = false
  for (const text of texts) {
    const level = LEVELS[text.toLowerCase()]
    if (level !== undefined) found.add(level)
    else if (OFF.has(text.toLowerCase())) off = true
    else throw new UsageError('trace-config', `invalid value for trace level option: ${text}`)
  }
  return off ? [] : [...found].toSorted().toReversed()
}

function parseNumber(name: string, text: string, least: number): number {
  const value = parseInteger('trace-config', text)
  if (value >= least) return value
  throw new UsageError('trace-config', `invalid value for trace ${name} option: ${text}. Expecting value >= ${least}`)
}
