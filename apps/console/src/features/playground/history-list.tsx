'use client'
import { Pin } from 'lucide-react'
import { Badge } from '../../ui/card.tsx'
import { cn } from '../../ui/cn.ts'
import { formatMicros } from '../../ui/format.ts'
import { When } from '../../ui/when.tsx'
import type { Entry } from './history.ts'

interface HistoryProps {
  readonly entries: readonly Entry[]
  readonly shown: Entry | null
  readonly pinned: Entry | null
  readonly onShow: (entry: Entry) => void
}

export function HistoryList({ entries, shown, pinned, onShow }: HistoryProps) {
  if (entries.length === 0)
    return (
      <p className="py-8 text-center text-mute">What you ask in this session is kept here, until the page is closed.</p>
    )
  return (
    <ul className="space-y-px">
      {entries.map((entry) => (
        <li key={entry.id}>
          <button
            type="button"
            aria-current={shown?.id === entry.id}
            onClick={() => onShow(entry)}
            className={cn(
              'flex h-8 w-full items-center gap-2 rounded-md px-2 text-left hover:bg-hover',
              shown?.id === entry.id && 'bg-hover',
            )}
          >
            <Badge tone={entry.result.status === 200 ? 'good' : 'bad'}>{entry.result.status}</Badge>
            <span className="min-w-0 flex-1 truncate">{summarise(entry)}</span>
            {pinned?.id === entry.id && <Pin className="size-3.5 text-accent" aria-label="pinned" />}
            <span className="text-xs text-mute tabular-nums">{formatMicros(entry.result.timing.totalUs)}</span>
            <When at={entry.at} className="w-20 text-right text-xs text-mute" />
          </button>
        </li>
      ))}
    </ul>
  )
}

function summarise({ result, version }: Entry): string {
  const best = result.outputs.find((output) => output.topk?.[0])?.topk?.[0]
  const text =
    result.error?.message ??
    (best === undefined
      ? (result.outputs[0]?.preview.slice(0, 4).join(', ') ?? '')
      : (best.label ?? `class ${best.index}`))
  return version === '' ? text : `v${version}: ${text}`
}
