'use client'
import Link from 'next/link'
import { memo } from 'react'
import { Card } from '../../ui/card.tsx'
import { LineChart } from '../../ui/line-chart.tsx'
import type { Panel } from './panels.ts'
import { lastValues } from './series.ts'

interface LiveChartProps {
  readonly panel: Panel
  readonly from: number
  readonly to: number
  /** Why there is nothing to draw, or null. */
  readonly silence: string | null
}

const HEIGHT = 150

export const LiveChart = memo(function LiveChart({ panel, from, to, silence }: LiveChartProps) {
  const last = lastValues(panel.series)
  const summary = panel.series.lines.map(({ key, label }) => `${label} ${describe(last[key], panel.format)}`).join(', ')
  return (
    <Card className="min-w-0">
      <header className="flex h-9 items-center gap-2 px-3">
        <h2 className="font-semibold" title={panel.note}>
          {panel.title}
        </h2>
        <span className="truncate text-xs text-mute max-sm:hidden">{panel.note}</span>
      </header>
      {silence === null ? (
        <figure aria-label={`${panel.title}: ${summary}`}>
          <LineChart
            series={panel.series}
            format={panel.format}
            from={from}
            to={to}
            height={HEIGHT}
            whole={panel.whole}
          />
          <Legend panel={panel} last={last} />
        </figure>
      ) : (
        <div
          className="flex flex-col items-center justify-center gap-1 px-6 pb-6 text-center text-mute"
          style={{ height: HEIGHT + 28 }}
        >
          <p>{silence}</p>
          {panel.needsTraffic && (
            <Link href="/playground" className="text-accent hover:underline">
              Ask one in the playground
            </Link>
          )}
        </div>
      )}
    </Card>
  )
})

function describe(value: number | null | undefined, format: (value: number) => string): string {
  return typeof value === 'number' ? format(value) : '–'
}

function Legend({ panel, last }: { panel: Panel; last: Readonly<Record<string, number | null>> }) {
  return (
    <figcaption className="flex h-7 items-center gap-3 overflow-x-auto px-3 pb-1 text-xs whitespace-nowrap">
      {panel.series.lines.map(({ key, label }, index) => (
        <span key={key} className="flex items-center gap-1.5 text-soft">
          <span aria-hidden className="h-0.5 w-3 rounded" style={{ background: `var(--series-${(index % 6) + 1})` }} />
          {label}
          <b className="font-medium text-ink tabular-nums">{describe(last[key], panel.format)}</b>
        </span>
      ))}
    </figcaption>
  )
}
