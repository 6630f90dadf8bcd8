import { ConchError } from '@conch/protocol'
import type { TraceLevel } from './trace-options.ts'
import type { TraceChange } from './trace-settings.ts'

/** Name on the wire → field. */
export const NUMBERS = {
  trace_rate: 'rate',
  trace_count: 'count',
  log_frequency: 'logFrequency',
} as const satisfies Readonly<Record<string, keyof TraceChange>>
export type NumberName = keyof typeof NUMBERS

const LEAST = { trace_rate: 0, trace_count: -1, log_frequency: 0 } as const
const MOST = 2 ** 31 - 1

/** Both protocols refuse it, always: the file is the operator's (trust S98). */
export function refuseFile(): never {
  throw new ConchError('UNSUPPORTED', 'trace file location can not be updated through network protocol')
}

/** As C's stoi, within the setting's limits. `gap`: what the protocol's message has before the value of `trace_count`. */
export function readTraceNumber(name: NumberName, text: string, gap: '' | ' '): number {
  const parsed = /^\s*[+-]?\d+/.exec(text)
  const value = Number(parsed?.[0])
  if (name === 'trace_count' && (!parsed || value < LEAST.trace_count)) {
    throw new ConchError('INVALID_ARG', `Unable to parse '${name}'. Expecting value >= -1, got:${gap}${text}`)
  }
  if (!parsed) throw new ConchError('INVALID_ARG', `Unable to parse '${name}', got: ${text}`)
  if (value >= LEAST[name] && value <= MOST) return value
  throw new ConchError(
    'INVALID_ARG',
    `Unable to parse '${name}', value is out of range [ 0, 4294967295 ], got: ${text}`,
  )
}

const LEVELS: readonly TraceLevel[] = ['TIMESTAMPS', 'TENSORS']

/** What is not known is left out, as there; nothing known = OFF. */
export function readTraceLevels(names: readonly string[]): readonly TraceLevel[] {
  if (names.includes('OFF') && names.length > 1) {
    throw new ConchError('INVALID_ARG', "Expect only one trace level 'OFF' is specified")
  }
  return LEVELS.filter((level) => names.includes(level))
}
