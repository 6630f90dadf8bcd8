import type { ReactNode } from 'react'
import { cn } from './cn.ts'

interface PageProps {
  readonly title: ReactNode
  readonly note?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
  /** The content fills the window's height and scrolls inside itself. */
  readonly fill?: boolean
}

export function Page({ title, note, actions, children, fill = false }: PageProps) {
  return (
    <div className={cn('mx-auto flex w-full max-w-[1600px] flex-col px-3 pb-6 md:px-5', fill && 'h-full pb-3 md:pb-4')}>
      <header className="flex min-h-13 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 py-2">
        <h1 className="min-w-0 text-base font-semibold tracking-tight">{title}</h1>
        {note !== undefined && <div className="min-w-0 text-mute">{note}</div>}
        <div className="ml-auto flex flex-wrap items-center gap-2">{actions}</div>
      </header>
      {children}
    </div>
  )
}
