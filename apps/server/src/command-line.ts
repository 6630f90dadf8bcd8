import type { Flag, FlagKind } from './flags.ts'

/** A mistake on the command line. `flag` is empty when no single flag is to blame. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly flag: string
  constructor(flag: string, text: string) {
    super(text)
    this.flag = flag
  }
}

/** Values as given, in order, by flag name; a flag without argument counts as `['']`. */
export type Given = ReadonlyMap<string, readonly string[]>

/**
 * Reads `--flag=value`, `--flag value` and unique prefixes as GNU getopt_long does (reference: cli §1).
 * Throws UsageError; nothing about the values themselves is checked here.
 */
export function readCommandLine(args: readonly string[], flags: readonly Flag[]): Given {
  const given = new Map<string, string[]>()
  for (let i = 0; i < args.length; i += 1) {
    const arg = args[i] ?? ''
    if (!arg.startsWith('--') || arg === '--') throw new UsageError('', `Unexpected argument: ${arg}`)
    const equals = arg.indexOf('=')
    const flag = findFlag(equals < 0 ? arg.slice(2) : arg.slice(2, equals), flags)
    let value = equals < 0 ? undefined : arg.slice(equals + 1)
    if (flag.kind === 'none') {
      if (value !== undefined) throw new UsageError(flag.name, `option '--${flag.name}' doesn't allow an argument`)
      value = ''
    } else if (value === undefined) {
      i += 1
      value = args[i]
      if (value === undefined) throw new UsageError(flag.name, `option '--${flag.name}' requires an argument`)
    }
    const values = given.get(flag.name)
    if (values) values.push(value)
    else given.set(flag.name, [value])
  }
  return given
}

function findFlag(name: string, flags: readonly Flag[]): Flag {
  const exact = flags.find((flag) => flag.name === name)
  if (exact) return exact
  const found = name === '' ? [] : flags.filter((flag) => flag.name.startsWith(name))
  const [only] = found
  if (only && found.length === 1) return only
  if (found.length > 1) {
    throw new UsageError(
      name,
      `option '--${name}' is ambiguous; possibilities: ${found.map((flag) => `'--${flag.name}'`).join(' ')}`,
    )
  }
  throw new UsageError(name, `unrecognized option '--${name}'${suggest(name, flags)}`)
}

function suggest(name: string, flags: readonly Flag[]): string {
  const words = name.split('-')
  const scored = flags.map((flag) => ({
    flag,
    hits: flag.name.split('-').filter((word) => words.includes(word)).length,
  }))
  const best = scored.reduce((a, b) => (b.hits > a.hits ? b : a), { flag: undefined as Flag | undefined, hits: 1 })
  return best.flag ? `. Did you mean '--${best.flag.name}'?` : ''
}

const TRUE = new Set(['true', 'on', '1'])
const FALSE = new Set(['false', 'off', '0'])

export function parseBool(flag: string, text: string): boolean {
  const lower = text.toLowerCase()
  if (TRUE.has(lower)) return true
  if (FALSE.has(lower)) return false
  throw new UsageError(flag, `invalid value for bool option: ${text}`)
}

/** As C's stoi: a leading integer is enough, the rest is ignored. `bits` bounds the value. */
export function parseInteger(flag: string, text: string, bits: 32 | 64 = 32): number {
  const found = /^\s*[+-]?\d+/.exec(text)
  if (!found) throw new UsageError(flag, `Invalid option value. Got ${text}`)
  const value = Number(found[0])
  const limit = bits === 32 ? 2 ** 31 : 2 ** 53
  if (value >= limit || value < -limit) throw new UsageError(flag, `Provided option value is out of bound. Got ${text}`)
  return value
}

export function parseFloating(flag: string, text: string): number {
  const value = Number.parseFloat(text)
  if (Number.isNaN(value)) throw new UsageError(flag, `Invalid option value. Got ${text}`)
  return value
}

/** Checks a value of a flag that nothing reads yet, so that a mistake is found all the same. */
export function checkValue(flag: Flag, text: string): void {
  const checks: Record<FlagKind, () => void> = {
    none: () => undefined,
    text: () => undefined,
    bool: () => void parseBool(flag.name, text),
    int: () => void parseInteger(flag.name, text, 64),
    float: () => void parseFloating(flag.name, text),
  }
  checks[flag.kind]()
}
