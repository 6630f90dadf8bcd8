'use client'
import type { LogLine } from '@conch/server/schemas'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useRef } from 'react'
import { cn } from '../../ui/cn.ts'
import { formatMoment } from '../../ui/format.ts'

const LOOKS: Readonly<Record<LogLine['level'], string>> = {
  verbose: 'text-mute',
  info: 'text-accent',
  warning: 'text-warn',
  error: 'text-bad',
}
const NEAR_END_PX = 40
const LINE_PX = 22

/** Follows the end while one is there; whoever scrolls up stays where they are. */
export function LogList({ lines, follow }: { lines: readonly LogLine[]; follow: boolean }) {
  const scroller = useRef<HTMLDivElement>(null)
  const atEnd = useRef(true)
  const lastTop = useRef(0)
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_PX,
    overscan: 20,
  })
  const count = lines.length
  const height = virtual.getTotalSize()
  useEffect(() => {
    if (follow && atEnd.current && count > 0) virtual.scrollToIndex(count - 1, { align: 'end' })
    // Also when the lines turn out taller than they were thought to be.
  }, [follow, count, height, virtual])
  const onScroll = () => {
    const box = scroller.current
    if (box === null) return
    const near = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END_PX
    // New lines push the end away without anybody scrolling: only a way up is a wish to stay.
    if (near) atEnd.current = true
    else if (box.scrollTop < lastTop.current) atEnd.current = false
    lastTop.current = box.scrollTop
  }
  return (
    // A region that scrolls must be reachable by the keyboard.
    <div
      ref={scroller}
      onScroll={onScroll}
      tabIndex={0}
      role="log"
      aria-label="Log lines"
      className="min-h-0 flex-1 overflow-auto py-1 font-mono text-xs -outline-offset-2"
    >
      <div className="relative" style={{ height }}>
        {virtual.getVirtualItems().map((item) => {
          const line = lines[item.index]
          if (line === undefined) return null
          return (
            <div
              key={item.key}
              data-index={item.index}
              ref={virtual.measureElement}
              className="absolute inset-x-0 top-0 flex gap-3 px-3 py-0.5 hover:bg-hover"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              <time className="shrink-0 text-mute" title={formatMoment(line.at)}>
                {new Date(line.at).toLocaleTimeString(undefined, { hour12: false })}
              </time>
              <span className={cn('w-14 shrink-0 max-md:hidden', LOOKS[line.level])}>{line.level}</span>
              <LineText line={line} />
            </div>
          )
        })}
      </div>
    </div>
  )
}

/** Tables keep their columns and scroll sideways, by the keyboard too; sentences wrap. */
function LineText({ line }: { line: LogLine }) {
  const text = line.text.replace(/^\n+|\n+$/g, '')
  const look = cn('min-w-0', line.level === 'error' && 'text-bad')
  if (!text.includes('\n')) return <span className={cn(look, 'break-words whitespace-pre-wrap')}>{text}</span>
  return (
    <pre tabIndex={0} aria-label="Table" className={cn(look, 'overflow-x-auto')}>
      {text}
    </pre>
  )
}
