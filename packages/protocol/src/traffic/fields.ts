import type { NamedVersion, TrafficProblem } from './policy.ts'

type Fields = Readonly<Record<string, unknown>>
export interface NumberRule {
  readonly min: number
  readonly max: number
  readonly fallback?: number | undefined
  readonly whole?: boolean
}

/** Reads the members of one JSON object and notes what is wrong with them. */
export class FieldReader {
  readonly path: string
  readonly problems: TrafficProblem[]
  readonly #fields: Fields

  constructor(value: unknown, path: string, problems: TrafficProblem[]) {
    this.path = path
    this.problems = problems
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    this.#fields = isObject ? (value as Fields) : {}
    if (!isObject) this.note('', `is ${describe(value)}`, 'write a JSON object: { … }')
  }

  note(field: string, message: string, fix: string): void {
    const path = [this.path, field].filter((part) => part !== '').join('.')
    this.problems.push({ path, message, fix })
  }

  has(field: string): boolean {
    return Object.hasOwn(this.#fields, field)
  }

  get(field: string): unknown {
    return this.has(field) ? this.#fields[field] : undefined
  }

  entries(): readonly (readonly [string, unknown])[] {
    return Object.entries(this.#fields)
  }

  /** The reader of a member that is an object; undefined when there is none. */
  open(field: string): FieldReader | undefined {
    if (!this.has(field)) return undefined
    return new FieldReader(this.get(field), [this.path, field].filter((part) => part !== '').join('.'), this.problems)
  }

  refuseOthers(known: readonly string[]): void {
    for (const [field] of this.entries()) {
      if (!known.includes(field)) this.note(cut(field), 'is no field', `remove it, or use one of: ${known.join(', ')}`)
    }
  }

  number(field: string, { min, max, fallback, whole = false }: NumberRule): number | undefined {
    const value = this.get(field)
    if (value === undefined) return fallback
    const right = typeof value === 'number' && value >= min && value <= max && (!whole || Number.isInteger(value))
    if (right) return value
    const kind = whole ? 'a whole number' : 'a number'
    this.note(field, `is ${describe(value)}`, `write ${kind} from ${min} to ${max}`)
    return fallback
  }
}

/** A foreign value, short enough for a message. */
export function describe(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value === 'string') return `the text '${cut(value)}'`
  return String(value)
}

export function cut(text: string): string {
  return text.length <= 64 ? text : `${text.slice(0, 64)}…`
}

/** Reads a version's number or label; notes what is neither. */
export type VersionReader = (reader: FieldReader, field: string, written: unknown) => NamedVersion | undefined
