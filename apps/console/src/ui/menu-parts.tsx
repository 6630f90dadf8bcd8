'use client'
import * as Radix from 'radix-ui/dropdown-menu'
import type { ComponentProps, ReactElement, ReactNode } from 'react'
import { cn } from './cn.ts'

export interface MenuProps {
  readonly trigger: ReactElement
  readonly children: ReactNode
  readonly align?: 'start' | 'end'
  readonly side?: 'top' | 'bottom'
}

/** Open from its birth: it is loaded when somebody first asks for a menu. */
export function OpenMenu({ trigger, children, align = 'end', side = 'bottom' }: MenuProps) {
  return (
    <Radix.Root defaultOpen>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align={align}
          side={side}
          sideOffset={4}
          collisionPadding={8}
          className="z-50 min-w-44 rounded-lg border border-line bg-raised p-1 shadow-float animate-in fade-in-0 zoom-in-98"
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

const ITEM =
  'flex h-8 cursor-pointer items-center gap-2 rounded-md px-2 outline-none select-none data-[highlighted]:bg-hover data-[disabled]:cursor-default data-[disabled]:opacity-50 [&_svg]:size-3.5 [&_svg]:text-mute'

export interface MenuItemProps extends ComponentProps<typeof Radix.Item> {
  readonly danger?: boolean
  /** When it may not be used: the reason, shown under it. */
  readonly why?: string | null | undefined
}

export function MenuItem({ danger, why, className, children, ...rest }: MenuItemProps) {
  return (
    <Radix.Item
      {...rest}
      disabled={Boolean(why) || (rest.disabled ?? false)}
      className={cn(ITEM, danger && 'text-bad [&_svg]:text-bad', why && 'h-auto py-1.5', className)}
    >
      {why ? (
        <span>
          <span className="flex items-center gap-2">{children}</span>
          <span className="block max-w-56 text-xs text-mute">{why}</span>
        </span>
      ) : (
        children
      )}
    </Radix.Item>
  )
}

export function MenuRule() {
  return <Radix.Separator className="my-1 h-px bg-line" />
}

export function MenuNote({ children }: { children: ReactNode }) {
  return <Radix.Label className="px-2 py-1.5 text-xs text-mute">{children}</Radix.Label>
}
