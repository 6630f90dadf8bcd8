'use client'
import type { ModelRow } from '@conch/server/schemas'
import { useVirtualizer } from '@tanstack/react-virtual'
import { ArrowDown, ArrowUp } from 'lucide-react'
import { memo, useCallback, useRef } from 'react'
import { cn } from '../../ui/cn.ts'
import { Checkbox } from '../../ui/field.tsx'
import { useMedia } from '../../ui/use-media.ts'
import type { ModelFilter, SortKey } from './model-filter.ts'
import { COLUMNS, ModelLine } from './model-line.tsx'

interface TableProps {
  readonly rows: readonly ModelRow[]
  readonly filter: ModelFilter
  readonly setFilter: (change: Partial<ModelFilter>) => void
  readonly chosen: ReadonlySet<string>
  readonly setChosen: (chosen: ReadonlySet<string>) => void
}

/** Heights of a row in pixels: two lines on a phone. */
const ROW = 38
const TALL_ROW = 62

/** Only the rows in sight are in the document: thousands of models scroll as one. */
export function ModelsTable({ rows, filter, setFilter, chosen, setChosen }: TableProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const narrow = useMedia('(max-width: 767px)')
  const height = narrow ? TALL_ROW : ROW
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: useCallback(() => height, [height]),
    getItemKey: useCallback((index: number) => rows[index]?.name ?? index, [rows]),
    overscan: 8,
  })
  const chosenNow = useRef(chosen)
  chosenNow.current = chosen
  const onChoose = useCallback(
    (name: string, on: boolean) => {
      const next = new Set(chosenNow.current)
      if (on) next.add(name)
      else next.delete(name)
      setChosen(next)
    },
    [setChosen],
  )
  return (
    <div
      ref={scroller}
      role="table"
      aria-label="Models"
      aria-rowcount={rows.length + 1}
      className="min-h-0 flex-1 overflow-auto"
      tabIndex={-1}
    >
      <div className="md:min-w-[56rem]">
        <TableHead rows={rows} filter={filter} setFilter={setFilter} chosen={chosen} setChosen={setChosen} />
        <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index]
            if (row === undefined) return null
            return (
              <div
                key={item.key}
                role="row"
                aria-rowindex={item.index + 2}
                className="absolute inset-x-0 top-0 border-b contain-strict"
                style={{ height, transform: `translateY(${item.start}px)` }}
              >
                <ModelLine row={row} chosen={chosen.has(row.name)} onChoose={onChoose} />
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}

const HEADS: readonly { readonly label: string; readonly sort?: SortKey; readonly right?: boolean }[] = [
  { label: 'Name', sort: 'name' },
  { label: 'State', sort: 'state' },
  { label: 'Versions' },
  { label: 'Backend', sort: 'backend' },
  { label: 'Batching' },
  { label: 'Instances' },
  { label: 'Req/s', sort: 'rps', right: true },
  { label: 'p95', sort: 'p95', right: true },
  { label: 'Errors', sort: 'errors', right: true },
]

const TableHead = memo(function TableHead({ rows, filter, setFilter, chosen, setChosen }: TableProps) {
  const every = rows.length > 0 && rows.every((row) => chosen.has(row.name))
  return (
    <div role="rowgroup" className="sticky top-0 z-10 border-b bg-panel">
      <div role="row" aria-rowindex={1} className={cn(COLUMNS, 'h-8 text-xs text-mute')}>
        <span role="columnheader" className="flex items-center">
          <Checkbox
            aria-label="Choose all that are shown"
            checked={every}
            onChange={(event) => setChosen(new Set(event.target.checked ? rows.map((row) => row.name) : []))}
          />
        </span>
        {HEADS.map((head) => (
          <Head key={head.label} {...head} filter={filter} setFilter={setFilter} />
        ))}
        <span role="columnheader" className="max-md:hidden">
          <span className="sr-only">Actions</span>
        </span>
      </div>
    </div>
  )
})

type HeadProps = (typeof HEADS)[number] & Pick<TableProps, 'filter' | 'setFilter'>

function Head({ label, sort, right, filter, setFilter }: HeadProps) {
  const active = sort !== undefined && filter.sort === sort
  const Arrow = filter.descending ? ArrowDown : ArrowUp
  const order = !active ? 'none' : filter.descending ? 'descending' : 'ascending'
  const look = cn('flex items-center gap-1', right && 'justify-end', label !== 'Name' && 'max-md:hidden')
  if (sort === undefined) {
    return (
      <span role="columnheader" className={look}>
        {label}
      </span>
    )
  }
  // Numbers are looked at from the top; names from the beginning.
  const flip = () => setFilter({ sort, descending: active ? !filter.descending : right === true })
  return (
    <span role="columnheader" aria-sort={order} className={look}>
      <button
        type="button"
        onClick={flip}
        className={cn('flex items-center gap-1 rounded font-medium hover:text-ink', active && 'text-ink')}
      >
        {label}
        {active && <Arrow className="size-3" aria-hidden />}
      </button>
    </span>
  )
}
