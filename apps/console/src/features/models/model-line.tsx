'use client'
import type { ModelRow } from '@conch/server/schemas'
import Link from 'next/link'
import { memo } from 'react'
import { Badge } from '../../ui/card.tsx'
import { cn } from '../../ui/cn.ts'
import { Checkbox } from '../../ui/field.tsx'
import { formatMicros, formatNumber, formatPercent } from '../../ui/format.ts'
import { StateMark } from '../../ui/state.tsx'
import { RowMenu } from './row-menu.tsx'
import { describeVersions } from './versions.ts'

/** The grid that head and rows share. */
export const COLUMNS =
  'grid items-center gap-x-3 px-3 grid-cols-[1.25rem_minmax(0,1fr)_auto] md:grid-cols-[1rem_minmax(11rem,1.5fr)_minmax(9rem,1.7fr)_minmax(4rem,0.5fr)_minmax(6rem,0.7fr)_minmax(7rem,0.8fr)_minmax(5rem,0.5fr)_4.5rem_5rem_4.5rem_2rem]'

interface LineProps {
  readonly row: ModelRow
  readonly chosen: boolean
  readonly onChoose: (name: string, on: boolean) => void
}

export const ModelLine = memo(function ModelLine({ row, chosen, onChoose }: LineProps) {
  return (
    <div className={cn(COLUMNS, 'h-full hover:bg-hover/60', chosen && 'bg-accent-wash hover:bg-accent-wash')}>
      <span role="cell" className="flex items-center">
        <Checkbox
          aria-label={`Choose ${row.name}`}
          checked={chosen}
          onChange={(event) => onChoose(row.name, event.target.checked)}
        />
      </span>
      <span role="cell" className="min-w-0">
        <Link
          href={`/models/${encodeURIComponent(row.name)}`}
          prefetch={false}
          className="block truncate rounded font-medium hover:text-accent hover:underline"
        >
          {row.name}
        </Link>
        <PhoneLine row={row} />
      </span>
      <span role="cell" className="flex min-w-0 items-center gap-2 max-md:hidden">
        <StateMark state={row.state} reason={row.reason} />
        <Reason row={row} />
      </span>
      <Facts row={row} />
      <Rates row={row} />
      <span role="cell" className="flex justify-end">
        <RowMenu row={row} />
      </span>
    </div>
  )
})

function Reason({ row }: { row: ModelRow }) {
  if (row.reason === '' || row.reason === 'unloaded') return null
  return (
    <span title={row.reason} className="min-w-0 truncate text-xs text-mute">
      {row.reason}
    </span>
  )
}

function Facts({ row }: { row: ModelRow }) {
  const { text, title } = describeVersions(row.versions)
  return (
    <>
      <span role="cell" title={title} className="truncate text-soft tabular-nums max-md:hidden">
        {text}
      </span>
      <span role="cell" title={row.platform} className="truncate text-soft max-md:hidden">
        {row.backend || '–'}
      </span>
      <span role="cell" className="flex gap-1 max-md:hidden">
        {row.batching === 'none' ? <span className="text-mute">none</span> : <Badge>{row.batching}</Badge>}
        {row.maxBatchSize > 0 && (
          <span className="text-xs leading-5 text-mute tabular-nums" title="Largest batch">
            ≤ {row.maxBatchSize}
          </span>
        )}
      </span>
      <span role="cell" className="truncate text-soft tabular-nums max-md:hidden">
        {row.instances > 0 ? `${row.instances} ${row.kind}` : '–'}
      </span>
    </>
  )
}

function Rates({ row }: { row: ModelRow }) {
  const quiet = row.rps === 0
  return (
    <>
      <span role="cell" className={cn('text-right tabular-nums max-md:hidden', quiet && 'text-mute')}>
        {formatNumber(row.rps)}
      </span>
      <span role="cell" className={cn('text-right tabular-nums max-md:hidden', row.p95Us === null && 'text-mute')}>
        {row.p95Us === null ? '–' : formatMicros(row.p95Us)}
      </span>
      <span
        role="cell"
        className={cn(
          'text-right tabular-nums max-md:hidden',
          row.errorRate === 0 ? 'text-mute' : 'font-medium text-bad',
        )}
      >
        {quiet ? '–' : formatPercent(row.errorRate)}
      </span>
    </>
  )
}

/** State and rates under the name, where there is no room for columns. */
function PhoneLine({ row }: { row: ModelRow }) {
  return (
    <span className="mt-0.5 flex min-w-0 items-center gap-2 text-xs text-mute md:hidden">
      <StateMark state={row.state} reason={row.reason} />
      {row.reason !== '' && row.reason !== 'unloaded' ? (
        <span className="truncate">{row.reason}</span>
      ) : (
        <span className="truncate tabular-nums">
          {row.backend} · {formatNumber(row.rps)}/s{row.p95Us === null ? '' : ` · p95 ${formatMicros(row.p95Us)}`}
        </span>
      )}
    </span>
  )
}
