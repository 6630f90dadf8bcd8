'use client'
import { useEffect, useRef } from 'react'
import { Badge } from '../../ui/card.tsx'
import { cn } from '../../ui/cn.ts'
import { formatMicros } from '../../ui/format.ts'
import { summarise, type StreamAnswer } from './stream.ts'

interface ListProps {
  readonly answers: readonly StreamAnswer[]
  /** Index of the one whose outputs are shown below. */
  readonly chosen: number | null
  readonly onChoose: (index: number) => void
  /** All that came, also what is not in the list. */
  readonly total: number | null
}

/** Answers one by one, each with the time at which it came. */
export function AnswersList({ answers, chosen, onChoose, total }: ListProps) {
  const box = useRef<HTMLOListElement>(null)
  const count = answers.length
  useEffect(() => {
    const list = box.current
    if (list !== null && chosen === null) list.scrollTop = list.scrollHeight
  }, [count, chosen])
  const more = total === null ? 0 : total - count
  return (
    <section aria-label="Answers" className="rounded-md border">
      <header className="flex items-center gap-2 border-b px-3 py-1.5 text-xs font-medium text-soft">
        Answers <Badge>{total ?? count}</Badge>
        {total === null && <span className="animate-pulse text-mute">running…</span>}
      </header>
      {count === 0 ? (
        <p className="px-3 py-2 text-mute">{total === null ? 'Waiting for the first one…' : 'It answered nothing.'}</p>
      ) : (
        <ol ref={box} className="max-h-56 overflow-y-auto py-1 font-mono text-xs" tabIndex={0} aria-label="One by one">
          {answers.map((answer) => (
            <li key={answer.index}>
              <button
                type="button"
                aria-pressed={chosen === answer.index}
                onClick={() => onChoose(answer.index)}
                className={cn(
                  'flex w-full gap-3 px-3 py-0.5 text-left hover:bg-hover',
                  chosen === answer.index && 'bg-accent-wash',
                )}
              >
                <span className="w-8 shrink-0 text-right text-mute">{answer.index + 1}</span>
                <span className="w-16 shrink-0 text-right text-mute">+{formatMicros(answer.atUs)}</span>
                <span className="min-w-0 truncate">{summarise(answer)}</span>
              </button>
            </li>
          ))}
        </ol>
      )}
      {more > 0 && <p className="border-t px-3 py-1.5 text-xs text-mute">{more} more came than are shown.</p>}
    </section>
  )
}
