import { CircleAlert, Info, TriangleAlert, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { cn } from './cn.ts'

interface EmptyProps {
  readonly icon: LucideIcon
  readonly title: string
  readonly children: ReactNode
  /** The next step: a button. */
  readonly action?: ReactNode
  readonly className?: string
}

export function Empty({ icon: Icon, title, children, action, className }: EmptyProps) {
  return (
    <div className={cn('flex flex-col items-center px-6 py-14 text-center', className)}>
      <span className="mb-3 flex size-10 items-center justify-center rounded-full bg-hover text-mute">
        <Icon className="size-5" aria-hidden />
      </span>
      <h2 className="text-sm font-semibold">{title}</h2>
      <div className="mt-1 max-w-md text-soft">{children}</div>
      {action !== undefined && <div className="mt-4 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  )
}

const ICONS = { bad: CircleAlert, warn: TriangleAlert, info: Info }
const LOOKS = {
  bad: 'border-bad/30 bg-bad-wash [&>svg]:text-bad',
  warn: 'border-warn/30 bg-warn-wash [&>svg]:text-warn',
  info: 'border-line bg-hover [&>svg]:text-mute',
}

interface NoticeProps {
  readonly tone?: keyof typeof ICONS
  readonly title?: ReactNode
  readonly children?: ReactNode
  readonly action?: ReactNode
  readonly className?: string
}

/** Something a person must know here: what happened, and the fix beside it. */
export function Notice({ tone = 'info', title, children, action, className }: NoticeProps) {
  const Icon = ICONS[tone]
  return (
    <div
      role={tone === 'bad' ? 'alert' : 'status'}
      className={cn('flex items-start gap-2.5 rounded-md border px-3 py-2', LOOKS[tone], className)}
    >
      <Icon className="mt-0.5 size-4 shrink-0" aria-hidden />
      <div className="min-w-0 flex-1">
        {title !== undefined && <p className="font-medium break-words">{title}</p>}
        {children !== undefined && <div className="break-words whitespace-pre-wrap text-soft">{children}</div>}
      </div>
      {action}
    </div>
  )
}
