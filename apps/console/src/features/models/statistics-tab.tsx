'use client'
import type { JsonValue } from '@conch/server/schemas'
import { ChartNoAxesColumn } from 'lucide-react'
import { Card, CardHead } from '../../ui/card.tsx'
import { formatCount, formatMicros } from '../../ui/format.ts'
import { Empty } from '../../ui/message.tsx'
import { When } from '../../ui/when.tsx'
import { readStatistics, type VersionStatistics } from './statistics.ts'

export function StatisticsTab({ statistics }: { statistics: JsonValue }) {
  const versions = readStatistics(statistics)
  if (versions.length === 0) {
    return (
      <Card>
        <Empty icon={ChartNoAxesColumn} title="Nothing is counted">
          Statistics begin when a version is loaded, and end with it.
        </Empty>
      </Card>
    )
  }
  return (
    <div className="space-y-3">
      {versions.map((version) => (
        <VersionCard key={version.version} stats={version} />
      ))}
    </div>
  )
}

function VersionCard({ stats }: { stats: VersionStatistics }) {
  const last =
    stats.lastInference === 0 ? (
      'never asked'
    ) : (
      <>
        last asked <When at={stats.lastInference} />
      </>
    )
  return (
    <Card>
      <CardHead
        title={`Version ${stats.version}`}
        note={
          <>
            {formatCount(stats.inferences)} inferences in {formatCount(stats.executions)} executions ·{' '}
            {formatCount(stats.failures)} failed · {last}
          </>
        }
      />
      <div className="grid gap-4 p-3 md:grid-cols-2">
        <Bars title="Mean time of a stage" rows={stats.stages.map((row) => ({ name: row.stage, ...row }))} />
        <Bars
          title="Mean inference time by batch size"
          rows={stats.batches.map((row) => ({ name: `${row.size}`, ...row }))}
        />
      </div>
    </Card>
  )
}

interface BarRow {
  readonly name: string
  readonly count: number
  readonly meanUs: number
}

function Bars({ title, rows }: { title: string; rows: readonly BarRow[] }) {
  const most = Math.max(1e-9, ...rows.map((row) => row.meanUs))
  return (
    <div>
      <h3 className="mb-1.5 text-xs font-medium text-mute">{title}</h3>
      {rows.length === 0 && <p className="text-mute">No request yet.</p>}
      <ul className="space-y-1">
        {rows.map((row) => (
          <li key={row.name} className="grid grid-cols-[6rem_1fr_4.5rem_5rem] items-center gap-2">
            <span className="truncate text-soft">{row.name}</span>
            <span className="h-2 overflow-hidden rounded-sm bg-hover">
              <span
                className="block h-full rounded-sm bg-series-1"
                style={{ width: `${(row.meanUs / most) * 100}%` }}
              />
            </span>
            <span className="text-right tabular-nums">{formatMicros(row.meanUs)}</span>
            <span className="text-right text-xs text-mute tabular-nums">{formatCount(row.count)} times</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
