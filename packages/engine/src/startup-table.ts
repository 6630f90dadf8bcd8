import type { IndexEntry } from './repository/contract.ts'

/** The table of models that the original prints when its start is over. */
export function printStartupTable(entries: readonly IndexEntry[]): string {
  const rows = entries.flatMap(({ name, version = '-', state = 'NOT LOADED', reason }) => {
    const status = reason === '' ? state : `${state}: ${reason.replace(/\s+/g, ' ')}`
    return wrap(status).map((line, index) => (index === 0 ? [name, version, line] : ['', '', line]))
  })
  const table = [['Model', 'Version', 'Status'], ...rows]
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)))
  const rule = `+${widths.map((width) => '-'.repeat(width + 2)).join('+')}+`
  const lines = table.map((row) => `|${row.map((cell, i) => ` ${cell.padEnd(widths[i] ?? 0)} `).join('|')}|`)
  const [head = '', ...body] = lines
  return ['', rule, head, rule, ...body, rule, ''].join('\n')
}

/** Lines of at most 100 characters; a row that is longer goes on below. */
function wrap(text: string): readonly string[] {
  const lines = text.match(/.{1,100}(?:\s|$)|.{1,100}/g) ?? ['']
  return lines.map((line) => line.trimEnd())
}
