import type { ComponentProps, ReactNode } from 'react'
import { cn } from './cn.ts'

export function Card({ className, ...rest }: ComponentProps<'section'>) {
  return <section className={cn('rounded-lg border border-line bg-panel shadow-card', className)} {...rest} />
}

interface CardHeadProps {
  readonly title: ReactNode
  readonly note?: ReactNode
  readonly children?: ReactNode
}

export function CardHead({ title, note, children }: CardHeadProps) {
  return (
    <header className="flex min-h-10 flex-wrap items-center gap-x-2 gap-y-1 border-b px-3 py-1.5">
      <h2 className="text-[13px] font-semibold">{title}</h2>
      {note !== undefined && <span className="text-xs text-mute">{note}</span>}
      <div className="ml-auto flex items-center gap-1.5">{children}</div>
    </header>
  )
}

export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden className={cn('animate-pulse rounded bg-hover', className)} />
}

export function Badge({ tone = 'plain', className, ...rest }: ComponentProps<'span'> & { tone?: Tone }) {
  return (
    <span
      className={cn(
        'inline-flex h-5 shrink-0 items-center gap-1 rounded px-1.5 text-xs font-medium whitespace-nowrap',
        TONES[tone],
        className,
      )}
      {...rest}
    />
  )
}

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'accent'
const TONES: Readonly<Record<Tone, string>> = {
  plain: 'bg-hover text-soft',
  good: 'bg-good-wash text-good',
  warn: 'bg-warn-wash text-warn',
  bad: 'bg-bad-wash text-bad',
  accent: 'bg-accent-wash text-accent',
}

export function Kbd({ children }: { children: ReactNode }) {
  return (
    <kbd className="inline-flex h-4.5 min-w-4.5 items-center justify-center rounded border border-line bg-hover px-1 font-sans text-2xs text-soft">
      {children}
    </kbd>
  )
}
