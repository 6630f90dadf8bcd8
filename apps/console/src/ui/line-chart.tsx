'use client'
import { CartesianGrid, Line, LineChart as Chart, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts'

export interface ChartSeries {
  readonly lines: readonly { readonly key: string; readonly label: string }[]
  /** `at` in milliseconds; null values are gaps. */
  readonly points: readonly ({ readonly at: number } & { readonly [key: string]: number | null })[]
}

interface LineChartProps {
  readonly series: ChartSeries
  readonly format: (value: number) => string
  /** The edges of the time axis in milliseconds. */
  readonly from: number
  readonly to: number
  readonly height: number
  /** Only whole numbers on the axis. */
  readonly whole?: boolean
}

const TICK = { fill: 'var(--mute)', fontSize: 11 }
const MARGIN = { top: 6, right: 14, bottom: 0, left: 0 }
const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hour12: false,
})

const formatClock = (at: number) => CLOCK.format(at)

/** Lines over time. Gaps stay gaps, and nothing moves but the data. Charts on one page share the crosshair. */
export function LineChart({ series, format, from, to, height, whole = false }: LineChartProps) {
  return (
    <ResponsiveContainer width="100%" height={height}>
      <Chart
        data={series.points as { at: number }[]}
        margin={MARGIN}
        syncId="time"
        syncMethod="value"
        accessibilityLayer={false}
      >
        <CartesianGrid stroke="var(--line)" vertical={false} />
        <XAxis
          dataKey="at"
          type="number"
          domain={[from, to]}
          allowDataOverflow
          tickFormatter={formatClock}
          tick={TICK}
          tickLine={false}
          axisLine={false}
          ticks={[from + (to - from) * 0.1, (from + to) / 2, to - (to - from) * 0.1]}
        />
        <YAxis
          width={72}
          domain={[0, 'auto']}
          tickCount={4}
          allowDecimals={!whole}
          tickFormatter={format}
          tick={TICK}
          tickLine={false}
          axisLine={false}
        />
        <Tooltip isAnimationActive={false} content={<ChartTip format={format} />} cursor={{ stroke: 'var(--edge)' }} />
        {series.lines.map((line, index) => (
          <Line
            key={line.key}
            // A function, because names of models may hold dots, which the library would read as a path.
            dataKey={(point: Record<string, number | null>) => point[line.key] ?? null}
            name={line.label}
            stroke={`var(--series-${(index % 6) + 1})`}
            strokeWidth={1.5}
            dot={false}
            activeDot={{ r: 3 }}
            connectNulls={false}
            isAnimationActive={false}
          />
        ))}
      </Chart>
    </ResponsiveContainer>
  )
}

interface TipProps {
  readonly format: (value: number) => string
  readonly active?: boolean
  readonly label?: number | string
  readonly payload?: readonly { readonly name?: string; readonly value?: number | null; readonly color?: string }[]
}

function ChartTip({ format, active, label, payload }: TipProps) {
  if (!active || payload === undefined || payload.length === 0) return null
  return (
    <div className="rounded-md border border-line bg-raised px-2 py-1.5 text-xs shadow-float">
      <div className="mb-0.5 text-mute">{formatClock(Number(label))}</div>
      {payload.map(({ name, value, color }) => (
        <div key={name} className="flex items-center gap-2">
          <span className="h-0.5 w-3 rounded" style={{ background: color }} />
          <span className="flex-1 text-soft">{name}</span>
          <span className="font-medium tabular-nums">{typeof value === 'number' ? format(value) : '–'}</span>
        </div>
      ))}
    </div>
  )
}
