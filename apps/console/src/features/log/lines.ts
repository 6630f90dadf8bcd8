import type { LogLine } from '@conch/server/schemas'

export const LEVEL_FILTERS = ['all', 'info', 'warning', 'error'] as const
export type LevelFilter = (typeof LEVEL_FILTERS)[number]

const WEIGHT = { verbose: 0, info: 1, warning: 2, error: 3 }
/** Lines kept in the browser. */
const MOST = 5000

/** Appends a line unless it is known already: after a reconnect the server may say it again. */
export function addLine(lines: readonly LogLine[], line: LogLine): readonly LogLine[] {
  const last = lines.at(-1)
  if (last !== undefined && line.id <= last.id && line.at <= last.at) return lines
  return [...lines.slice(-(MOST - 1)), line]
}

export function filterLines(lines: readonly LogLine[], level: LevelFilter, text: string): readonly LogLine[] {
  const least = level === 'all' ? 0 : WEIGHT[level]
  const wanted = text.trim().toLowerCase()
  if (least === 0 && wanted === '') return lines
  return lines.filter((line) => WEIGHT[line.level] >= least && line.text.toLowerCase().includes(wanted))
}

export function printLines(lines: readonly LogLine[]): string {
  return lines.map((line) => `${new Date(line.at).toISOString()} ${line.level} ${line.text}`).join('\n')
}
