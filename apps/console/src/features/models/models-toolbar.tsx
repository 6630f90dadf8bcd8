'use client'
import type { ModelRow } from '@conch/server/schemas'
import { Search } from 'lucide-react'
import { useMemo } from 'react'
import { Input, Select } from '../../ui/field.tsx'
import { Segments } from '../../ui/tabs.tsx'
import { countStates, listBackends, type ModelFilter, type StateFilter } from './model-filter.ts'

const LABELS: readonly (readonly [StateFilter, string])[] = [
  ['all', 'All'],
  ['ready', 'Ready'],
  ['busy', 'Changing'],
  ['failed', 'Failed'],
  ['idle', 'Not loaded'],
]

interface ToolbarProps {
  readonly rows: readonly ModelRow[]
  readonly filter: ModelFilter
  readonly setFilter: (change: Partial<ModelFilter>) => void
}

export function ModelsToolbar({ rows, filter, setFilter }: ToolbarProps) {
  const counts = useMemo(() => countStates(rows), [rows])
  const backends = useMemo(() => listBackends(rows), [rows])
  const options = LABELS.map(([value, label]) => ({
    value,
    label: (
      <>
        {label} <span className="font-normal text-mute tabular-nums">{counts[value]}</span>
      </>
    ),
  }))
  return (
    <div className="mb-2 flex shrink-0 flex-wrap items-center gap-2">
      <div className="relative w-64 max-md:w-full">
        <Search
          className="pointer-events-none absolute top-1/2 left-2.5 size-3.5 -translate-y-1/2 text-mute"
          aria-hidden
        />
        <Input
          data-page-search
          type="search"
          aria-label="Search the models"
          placeholder="Search name, backend, reason"
          className="pl-8"
          value={filter.text}
          onChange={(event) => setFilter({ text: event.target.value })}
          onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
        />
      </div>
      <Segments label="State" value={filter.state} onChange={(state) => setFilter({ state })} options={options} />
      {backends.length > 1 && (
        <Select
          aria-label="Backend"
          className="h-7 text-xs"
          value={filter.backend}
          onChange={(event) => setFilter({ backend: event.target.value })}
        >
          <option value="">All backends</option>
          {backends.map((backend) => (
            <option key={backend}>{backend}</option>
          ))}
        </Select>
      )}
    </div>
  )
}
