'use client'
import * as Tooltip from 'radix-ui/tooltip'
import type { ReactElement, ReactNode } from 'react'

export function TipProvider({ children }: { children: ReactNode }) {
  return <Tooltip.Provider delayDuration={350}>{children}</Tooltip.Provider>
}

/** A short text on hover or focus. The child must be able to take focus. */
export function Tip({ text, children }: { text: ReactNode; children: ReactElement }) {
  if (text === '' || text === null || text === undefined) return children
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content
          sideOffset={5}
          collisionPadding={8}
          className="z-50 max-w-80 rounded-md border border-line bg-raised px-2 py-1 text-xs text-ink shadow-float animate-in fade-in-0"
        >
          {text}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  )
}
