import type { LiveFrame } from '@conch/server/schemas'
import { formatBytes, formatMicros, formatNumber } from '../../ui/format.ts'

export interface Total {
  readonly label: string
  readonly text: string
  readonly bad?: boolean
}

/** One second of all models, or of one, as a row of numbers with units. */
export function sumFrame({ models, server }: LiveFrame, model: string): Total[] {
  const rows = model === '' ? models : models.filter((row) => row.model === model)
  const sum = (pick: (row: LiveFrame['models'][number]) => number) => rows.reduce((total, row) => total + pick(row), 0)
  const known = rows.map((row) => row.p95Us).filter((value) => value !== null)
  const batches = rows.map((row) => row.batch).filter((value) => value !== null)
  const errors = sum((row) => row.errors)
  return [
    { label: 'Requests', text: `${formatNumber(sum((row) => row.rps))}/s` },
    {
      label: rows.length > 1 ? 'Slowest p95' : 'p95',
      text: known.length === 0 ? '–' : formatMicros(Math.max(...known)),
    },
    { label: 'Errors', text: `${formatNumber(errors)}/s`, bad: errors > 0 },
    { label: 'Waiting', text: formatNumber(sum((row) => row.pending)) },
    { label: 'In flight', text: formatNumber(sum((row) => row.inflight)) },
    { label: 'Batch size', text: batches.length === 0 ? '–' : formatNumber(Math.max(...batches)) },
    { label: 'CPU', text: `${formatNumber(server.cpu)} cores` },
    { label: 'Memory', text: formatBytes(server.rssBytes) },
  ]
}
