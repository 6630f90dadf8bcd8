/** A number as it was written: 64-bit integers and long decimals pass through unchanged. */
export class ExactNumber {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
export type ExactJson =
  null | boolean | string | ExactNumber | readonly ExactJson[] | { readonly [name: string]: ExactJson }

interface SourceContext {
  readonly source?: string
}

/** Parses JSON and keeps every number's own digits. Throws SyntaxError with the place. */
export function parseExact(text: string): ExactJson {
  const revive = (_key: string, value: unknown, context?: SourceContext) =>
    typeof value === 'number' ? new ExactNumber(context?.source ?? String(value)) : value
  return JSON.parse(text, revive) as ExactJson
}

export function printExact(value: ExactJson): string {
  if (value instanceof ExactNumber) return value.text
  if (Array.isArray(value)) return `[${value.map(printExact).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}: ${printExact(member as ExactJson)}`,
  )
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}
