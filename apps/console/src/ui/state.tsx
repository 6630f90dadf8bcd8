import { cn } from './cn.ts'

export type StateName = 'READY' | 'LOADING' | 'UNLOADING' | 'UNAVAILABLE' | 'UNKNOWN'

const LOOKS: Readonly<Record<StateName, { dot: string; text: string; label: string }>> = {
  READY: { dot: 'bg-good', text: 'text-good', label: 'Ready' },
  LOADING: { dot: 'bg-warn animate-pulse', text: 'text-warn', label: 'Loading' },
  UNLOADING: { dot: 'bg-warn animate-pulse', text: 'text-warn', label: 'Unloading' },
  UNAVAILABLE: { dot: 'bg-bad', text: 'text-bad', label: 'Unavailable' },
  UNKNOWN: { dot: 'border border-edge', text: 'text-mute', label: 'Not loaded' },
}

/** A model that somebody unloaded is no alarm: it is simply not loaded. */
export function displayState(state: StateName, reason: string): StateName {
  return state === 'UNAVAILABLE' && (reason === 'unloaded' || reason === '') ? 'UNKNOWN' : state
}

export function describeState(state: StateName, reason: string): string {
  return LOOKS[displayState(state, reason)].label
}

export function StateMark({ state, reason, className }: { state: StateName; reason: string; className?: string }) {
  const look = LOOKS[displayState(state, reason)]
  return (
    <span className={cn('inline-flex shrink-0 items-center gap-1.5 font-medium', look.text, className)}>
      <span aria-hidden className={cn('size-2 rounded-full', look.dot)} />
      {look.label}
    </span>
  )
}
