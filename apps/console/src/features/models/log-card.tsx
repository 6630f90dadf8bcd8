'use client'
import { useEffect, useRef } from 'react'
import { useModelLog } from '../../api/use-model-log.ts'
import { Card, CardHead } from '../../ui/card.tsx'
import { cn } from '../../ui/cn.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { formatMoment } from '../../ui/format.ts'

const SHOWN = 100
const NEAR_END_PX = 40

/** What a model says, on its standard output and error too. */
export function LogCard({ model }: { model: string }) {
  const lines = useModelLog(model).slice(-SHOWN)
  const box = useRef<HTMLOListElement>(null)
  const last = lines.at(-1)?.id
  const atEnd = useRef(true)
  useEffect(() => {
    if (box.current !== null && atEnd.current) box.current.scrollTop = box.current.scrollHeight
  }, [last])
  const onScroll = () => {
    const list = box.current
    if (list !== null) atEnd.current = list.scrollHeight - list.scrollTop - list.clientHeight < NEAR_END_PX
  }
  if (lines.length === 0) return null
  return (
    <Card>
      <CardHead title="Log" note="of this model">
        <CopyButton text={() => lines.map(({ text }) => text).join('\n')} label="Copy the lines" />
      </CardHead>
      <ol
        ref={box}
        onScroll={onScroll}
        tabIndex={0}
        aria-label="Log of this model"
        className="max-h-64 overflow-y-auto py-1 font-mono text-xs"
      >
        {lines.map((line) => (
          <li key={`${line.at}/${line.id}`} className="flex gap-3 px-3 py-0.5">
            <time className="shrink-0 text-mute" title={formatMoment(line.at)}>
              {new Date(line.at).toLocaleTimeString(undefined, { hour12: false })}
            </time>
            <span
              className={cn(
                'min-w-0 break-words whitespace-pre-wrap',
                line.level === 'error' && 'text-bad',
                line.level === 'warning' && 'text-warn',
              )}
            >
              {line.text}
            </span>
          </li>
        ))}
      </ol>
    </Card>
  )
}
