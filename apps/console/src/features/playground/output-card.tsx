'use client'
import type { OutputView } from '@conch/server/schemas'
import { Download } from 'lucide-react'
import { useMemo, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Badge } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { formatCount, formatShape } from '../../ui/format.ts'
import { saveFile } from '../../ui/save-file.ts'
import { bestOfRows, makeHistogram, readClasses, readNumbers, type BestClass, type Difference } from './answer.ts'

interface OutputCardProps {
  readonly output: OutputView
  /** Compared with the pinned answer. */
  readonly difference: Difference | undefined
  readonly labels: readonly string[] | undefined
}

const BINS = 32
const SHOWN_VALUES = 200

export function OutputCard({ output, difference, labels }: OutputCardProps) {
  const classes = output.topk ?? readClasses(output) ?? []
  const rows = bestOfRows(output)
  return (
    <section
      className="overflow-hidden rounded-md border border-line"
      data-testid="output"
      aria-label={`Output ${output.name}`}
    >
      <header className="flex flex-wrap items-center gap-2 bg-hover/60 px-3 py-1.5">
        <h3 className="font-mono text-[13px] font-semibold break-all">{output.name}</h3>
        <Badge>{output.datatype}</Badge>
        <span className="font-mono text-xs text-mute">{formatShape(output.shape)}</span>
        {difference !== undefined && (
          <Badge tone={difference.largest === 0 || difference.note === 'the same' ? 'good' : 'warn'}>
            {difference.note}
          </Badge>
        )}
        <span className="ml-auto flex items-center gap-1">
          <CopyButton text={() => output.preview.join(', ')} label={`Copy the values of ${output.name}`} />
          <Button
            size="tiny"
            tone="quiet"
            aria-label={`Save ${output.name} as JSON`}
            title="Save as JSON"
            onClick={() => saveFile(`${output.name}.json`, toJson(output))}
          >
            <Download />
          </Button>
        </span>
      </header>
      <div className="space-y-3 p-3">
        {rows !== null ? (
          <RowClasses rows={rows} labels={labels} />
        ) : (
          classes.length > 0 && <TopClasses rows={classes} />
        )}
        {output.stats !== null && output.count > 1 && <Statistics output={output} />}
        <Values output={output} />
      </div>
    </section>
  )
}

function toJson({ name, datatype, shape, preview, count }: OutputView): string {
  const data = preview.map((text) =>
    datatype === 'BYTES' ? JSON.stringify(text) : /^(NaN|-?Infinity)$/.test(text) ? `"${text}"` : text,
  )
  const note = count > preview.length ? `,\n  "note": "the first ${preview.length} of ${count} values"` : ''
  return `{\n  "name": ${JSON.stringify(name)},\n  "datatype": "${datatype}",\n  "shape": ${formatShape(shape)},\n  "data": [${data.join(', ')}]${note}\n}\n`
}

/** Classes shown at first. */
const FIRST_CLASSES = 5

function TopClasses({ rows }: { rows: NonNullable<OutputView['topk']> }) {
  const [all, setAll] = useState(false)
  const values = rows.map((row) => Number(row.value))
  const most = Math.max(...values)
  const least = Math.min(0, ...values)
  const width = (value: number) => (most === least ? 100 : Math.max(0, ((value - least) / (most - least)) * 100))
  return (
    <div>
      <ol className="grid grid-cols-[minmax(4rem,auto)_1fr_auto] items-center gap-x-3 gap-y-1" aria-label="Most likely">
        {rows.slice(0, all ? rows.length : FIRST_CLASSES).map((row) => (
          <li key={row.index} className="contents">
            <span className="max-w-52 truncate font-medium" title={`${row.label ?? ''} (class ${row.index})`}>
              {row.label ?? `class ${row.index}`}
            </span>
            <span className="h-2.5 overflow-hidden rounded-sm bg-hover">
              <span className="block h-full rounded-sm bg-series-1" style={{ width: `${width(Number(row.value))}%` }} />
            </span>
            <span className="text-right font-mono text-xs tabular-nums" title={row.value}>
              {shorten(row.value)}
            </span>
          </li>
        ))}
      </ol>
      {rows.length > FIRST_CLASSES && (
        <Button size="small" tone="quiet" className="mt-1 -ml-2" onClick={() => setAll(!all)}>
          {all ? 'Fewer' : `All ${rows.length}`}
        </Button>
      )}
    </div>
  )
}

const SHOWN_ROWS = 50

/** The best class of each row of a batch. */
function RowClasses({ rows, labels }: { rows: readonly BestClass[]; labels: readonly string[] | undefined }) {
  return (
    <ol
      className="grid max-h-56 grid-cols-[auto_minmax(4rem,1fr)_auto] gap-x-4 gap-y-1 overflow-y-auto"
      tabIndex={0}
      aria-label="Most likely in each row"
    >
      {rows.slice(0, SHOWN_ROWS).map(({ index, value }, row) => (
        <li key={row} className="contents">
          <span className="text-mute tabular-nums">row {row + 1}</span>
          <span className="truncate font-medium">{labels?.[index] ?? `class ${index}`}</span>
          <span className="text-right font-mono text-xs">{shorten(String(value))}</span>
        </li>
      ))}
      <More count={rows.length - SHOWN_ROWS} />
    </ol>
  )
}

/** Long decimals are cut for the eye; the whole number is in the values. */
function shorten(text: string): string {
  if (text.length <= 7 || !Number.isFinite(Number(text))) return text
  const value = Number(text)
  return value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential(2) : String(Number(value.toPrecision(5)))
}

function Statistics({ output }: { output: OutputView }) {
  const bins = useMemo(() => {
    const numbers = readNumbers(output)
    return numbers === null ? [] : makeHistogram(numbers, BINS)
  }, [output])
  const { stats } = output
  if (stats === null) return null
  const facts = [
    ['min', shorten(stats.min)],
    ['mean', shorten(stats.mean)],
    ['max', shorten(stats.max)],
    ['zeros', formatCount(stats.zero)],
    ['NaN', formatCount(stats.nan)],
  ] as const
  const tallest = Math.max(1, ...bins.map((bin) => bin.count))
  return (
    <div className="flex flex-wrap items-end gap-x-5 gap-y-2">
      <dl className="flex flex-wrap gap-x-5 gap-y-1">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt className="text-xs text-mute">{name}</dt>
            <dd className={name === 'NaN' && stats.nan > 0 ? 'font-mono text-xs text-bad' : 'font-mono text-xs'}>
              {value}
            </dd>
          </div>
        ))}
      </dl>
      {bins.length > 0 && (
        <svg
          viewBox={`0 0 ${BINS} 20`}
          preserveAspectRatio="none"
          className="h-9 min-w-32 flex-1"
          role="img"
          aria-label="How the values are spread"
        >
          {bins.map((bin, index) => (
            <rect
              key={bin.from}
              x={index + 0.1}
              width={0.8}
              y={20 - (bin.count / tallest) * 20}
              height={(bin.count / tallest) * 20}
              fill="var(--series-1)"
            />
          ))}
        </svg>
      )}
    </div>
  )
}

function Values({ output }: { output: OutputView }) {
  const { preview, count, datatype } = output
  const shown = preview.slice(0, SHOWN_VALUES)
  if (datatype === 'BYTES') {
    return (
      <ul className="max-h-56 space-y-1 overflow-y-auto" tabIndex={0} aria-label="Values">
        {shown.map((text, index) => (
          <li key={index} className="rounded bg-hover px-2 py-1 font-mono text-xs break-words whitespace-pre-wrap">
            {text === '' ? <span className="text-mute">(empty)</span> : text}
          </li>
        ))}
        <More count={count - shown.length} />
      </ul>
    )
  }
  return (
    <p className="max-h-40 overflow-y-auto font-mono text-xs break-words text-soft" tabIndex={0} aria-label="Values">
      {shown.join(', ')} <More count={count - shown.length} />
    </p>
  )
}

function More({ count }: { count: number }) {
  return count > 0 ? <span className="font-sans text-mute">… and {formatCount(count)} more</span> : null
}
