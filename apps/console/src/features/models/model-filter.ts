import type { ModelRow } from '@conch/server/schemas'
import { displayState } from '../../ui/state.tsx'

export const SORT_KEYS = ['name', 'state', 'backend', 'rps', 'p95', 'errors'] as const
export type SortKey = (typeof SORT_KEYS)[number]

export const STATE_FILTERS = ['all', 'ready', 'busy', 'failed', 'idle'] as const
export type StateFilter = (typeof STATE_FILTERS)[number]

export interface ModelFilter {
  readonly text: string
  readonly state: StateFilter
  /** Empty = all. */
  readonly backend: string
  readonly sort: SortKey
  readonly descending: boolean
}

/** Under which of the state filters a model falls. */
export function stateGroup(row: Pick<ModelRow, 'state' | 'reason'>): Exclude<StateFilter, 'all'> {
  switch (displayState(row.state, row.reason)) {
    case 'READY':
      return 'ready'
    case 'LOADING':
    case 'UNLOADING':
      return 'busy'
    case 'UNAVAILABLE':
      return 'failed'
    case 'UNKNOWN':
      return 'idle'
  }
}

const URGENCY = { failed: 0, busy: 1, ready: 2, idle: 3 }

const compareText = new Intl.Collator('en', { numeric: true, sensitivity: 'base' }).compare

const COMPARE: Readonly<Record<SortKey, (a: ModelRow, b: ModelRow) => number>> = {
  name: (a, b) => compareText(a.name, b.name),
  state: (a, b) => URGENCY[stateGroup(a)] - URGENCY[stateGroup(b)],
  backend: (a, b) => compareText(a.backend, b.backend),
  rps: (a, b) => a.rps - b.rps,
  p95: (a, b) => (a.p95Us ?? -1) - (b.p95Us ?? -1),
  errors: (a, b) => a.errorRate - b.errorRate,
}

/** Equal rows stay in the order of their names, whichever way the column is sorted. */
export function filterModels(rows: readonly ModelRow[], filter: ModelFilter): ModelRow[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean)
  const kept = rows.filter(
    (row) =>
      (filter.state === 'all' || stateGroup(row) === filter.state) &&
      (filter.backend === '' || row.backend === filter.backend) &&
      words.every((word) => `${row.name} ${row.backend} ${row.reason}`.toLowerCase().includes(word)),
  )
  const compare = COMPARE[filter.sort]
  const sign = filter.descending ? -1 : 1
  return kept.sort((a, b) => sign * compare(a, b) || compareText(a.name, b.name))
}

export function countStates(rows: readonly ModelRow[]): Readonly<Record<StateFilter, number>> {
  const counts = { all: rows.length, ready: 0, busy: 0, failed: 0, idle: 0 }
  for (const row of rows) counts[stateGroup(row)] += 1
  return counts
}

export function listBackends(rows: readonly ModelRow[]): string[] {
  return [...new Set(rows.map((row) => row.backend).filter(Boolean))].sort(compareText)
}
