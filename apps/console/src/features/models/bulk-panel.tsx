'use client'
import { CircleAlert, CircleCheck, CircleDashed, CircleMinus, LoaderCircle, X, type LucideIcon } from 'lucide-react'
import { Button } from '../../ui/button.tsx'
import { cn } from '../../ui/cn.ts'
import { Meter } from '../../ui/meter.tsx'
import { countBulk, type BulkItem, type BulkState, type BulkVerb } from './bulk.ts'
import type { Bulk } from './use-bulk.ts'

const TITLES: Readonly<Record<BulkVerb, string>> = { load: 'Loading', unload: 'Unloading', reload: 'Reloading' }
const MARKS: Readonly<Record<BulkState, { icon: LucideIcon; look: string; label: string }>> = {
  waiting: { icon: CircleDashed, look: 'text-mute', label: 'waiting' },
  working: { icon: LoaderCircle, look: 'animate-spin text-accent', label: 'working' },
  done: { icon: CircleCheck, look: 'text-good', label: 'done' },
  failed: { icon: CircleAlert, look: 'text-bad', label: 'failed' },
  skipped: { icon: CircleMinus, look: 'text-mute', label: 'skipped' },
}

/** Progress of a bulk action, item by item, in the corner: the rest of the page stays usable. */
export function BulkPanel({ bulk }: { bulk: Bulk }) {
  const { run } = bulk
  if (run === null) return null
  const { finished, failed, total, over } = countBulk(run)
  const failures = run.items.filter((item) => item.state === 'failed').map((item) => item.model)
  return (
    <section
      aria-label="Progress"
      className="fixed right-4 bottom-4 z-30 flex max-h-[50vh] w-[min(24rem,calc(100vw-2rem))] flex-col rounded-lg border border-line bg-raised shadow-float"
    >
      <header className="flex items-center gap-2 border-b px-3 py-2" role="status">
        <span className="flex-1 font-medium">
          {over ? `${finished - failed} of ${total} done` : `${TITLES[run.verb]} ${finished} of ${total}`}
          {failed > 0 && <span className="text-bad"> · {failed} failed</span>}
        </span>
        {!over && (
          <Button size="small" onClick={bulk.stop}>
            Stop
          </Button>
        )}
        {over && failures.length > 0 && (
          <Button size="small" onClick={() => bulk.start(run.verb, failures)}>
            Try the failed again
          </Button>
        )}
        {over && (
          <Button size="tiny" tone="quiet" aria-label="Close" onClick={bulk.close}>
            <X />
          </Button>
        )}
      </header>
      <Meter value={finished} max={total} label="Progress" className="rounded-none" />
      <ul className="min-h-0 flex-1 overflow-y-auto py-1">
        {run.items.map((item) => (
          <Item key={item.model} item={item} />
        ))}
      </ul>
    </section>
  )
}

function Item({ item }: { item: BulkItem }) {
  const { icon: Icon, look, label } = MARKS[item.state]
  return (
    <li className="flex gap-2 px-3 py-1">
      <Icon className={cn('mt-0.5 size-3.5 shrink-0', look)} aria-label={label} />
      <span className="min-w-0">
        <span className="block truncate">{item.model}</span>
        {item.reason !== '' && <span className="block text-xs break-words text-bad">{item.reason}</span>}
      </span>
    </li>
  )
}
