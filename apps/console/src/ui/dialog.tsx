'use client'
import { X } from 'lucide-react'
import * as Radix from 'radix-ui/dialog'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { cn } from './cn.ts'

interface DialogProps {
  readonly open: boolean
  readonly onOpenChange: (open: boolean) => void
  readonly title: string
  readonly description?: ReactNode
  readonly children?: ReactNode
  readonly footer?: ReactNode
  readonly className?: string
}

const VEIL = 'fixed inset-0 z-40 bg-black/40 animate-in fade-in-0'

export function Dialog({ open, onOpenChange, title, description, children, footer, className }: DialogProps) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className={VEIL} />
        <Radix.Content
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
          className={cn(
            'fixed top-[12vh] left-1/2 z-50 flex max-h-[80vh] w-[min(30rem,calc(100vw-1.5rem))] -translate-x-1/2 flex-col rounded-lg border border-line bg-raised shadow-float animate-in fade-in-0 zoom-in-98',
            className,
          )}
        >
          <div className="flex items-start gap-3 px-4 pt-4">
            <div className="min-w-0 flex-1">
              <Radix.Title className="text-[15px] font-semibold">{title}</Radix.Title>
              {description !== undefined && (
                <Radix.Description asChild>
                  <div className="mt-1 text-soft">{description}</div>
                </Radix.Description>
              )}
            </div>
            <Radix.Close asChild>
              <Button tone="quiet" size="tiny" aria-label="Close">
                <X />
              </Button>
            </Radix.Close>
          </div>
          <div className="min-h-0 flex-1 overflow-y-auto px-4 py-3">{children}</div>
          {footer !== undefined && <div className="flex justify-end gap-2 border-t px-4 py-3">{footer}</div>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** A panel from the left edge, for the navigation on a phone. */
export function Sheet({ open, onOpenChange, title, children }: DialogProps) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className={VEIL} />
        <Radix.Content
          aria-describedby={undefined}
          className="fixed inset-y-0 left-0 z-50 w-64 border-r border-line bg-panel shadow-float animate-in slide-in-from-left-8"
        >
          <Radix.Title className="sr-only">{title}</Radix.Title>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

interface ConfirmProps {
  readonly open: boolean
  readonly onOpenChange: (open: boolean) => void
  readonly title: string
  readonly children: ReactNode
  readonly action: string
  readonly danger?: boolean
  readonly busy?: boolean
  readonly onConfirm: () => void
}

export function Confirm({ open, onOpenChange, title, children, action, danger, busy, onConfirm }: ConfirmProps) {
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title={title}
      description={children}
      footer={
        <>
          <Button onClick={() => onOpenChange(false)}>Cancel</Button>
          <Button tone={danger ? 'danger' : 'primary'} disabled={busy ?? false} onClick={onConfirm}>
            {action}
          </Button>
        </>
      }
    />
  )
}
