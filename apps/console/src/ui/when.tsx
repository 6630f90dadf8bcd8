'use client'
import { useSyncExternalStore } from 'react'
import { formatAgo, formatMoment } from './format.ts'

const listeners = new Set<() => void>()
let now = Date.now()
let timer: ReturnType<typeof setInterval> | undefined

/** One clock for all relative times of a page; it stands still when nobody looks. */
function watchClock(listener: () => void): () => void {
  listeners.add(listener)
  now = Date.now()
  timer ??= setInterval(() => {
    now = Date.now()
    for (const each of listeners) each()
  }, 5000)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0 || timer === undefined) return
    clearInterval(timer)
    timer = undefined
  }
}

export function When({ at, className }: { at: number; className?: string }) {
  const current = useSyncExternalStore(
    watchClock,
    () => now,
    () => at,
  )
  return (
    <time dateTime={new Date(at).toISOString()} title={formatMoment(at)} className={className}>
      {formatAgo(at, Math.max(current, at))}
    </time>
  )
}
