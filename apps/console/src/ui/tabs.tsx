'use client'
import * as Radix from 'radix-ui/tabs'
import type { ReactNode } from 'react'
import { cn } from './cn.ts'

export interface TabEntry {
  readonly value: string
  readonly label: string
  readonly badge?: ReactNode
}
interface TabsProps {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly tabs: readonly TabEntry[]
  readonly label: string
  readonly children: ReactNode
  readonly className?: string
  readonly aside?: ReactNode
}

export function Tabs({ value, onChange, tabs, label, children, className, aside }: TabsProps) {
  return (
    <Radix.Root value={value} onValueChange={onChange} className={cn('flex min-h-0 flex-col', className)}>
      <div className="flex items-center gap-2 border-b">
        <Radix.List aria-label={label} className="-mb-px flex min-w-0 flex-1 overflow-x-auto overflow-y-hidden">
          {tabs.map((tab) => (
            <Radix.Trigger
              key={tab.value}
              value={tab.value}
              className="flex h-9 shrink-0 items-center gap-1.5 border-b-2 border-transparent px-2.5 font-medium text-mute -outline-offset-2 hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
            >
              {tab.label}
              {tab.badge}
            </Radix.Trigger>
          ))}
        </Radix.List>
        {aside}
      </div>
      {children}
    </Radix.Root>
  )
}

export function TabPanel({ value, className, children }: { value: string; className?: string; children: ReactNode }) {
  return (
    <Radix.Content value={value} className={cn('min-h-0 outline-none', className)} tabIndex={-1}>
      {children}
    </Radix.Content>
  )
}

interface SegmentsProps<T extends string> {
  readonly value: T
  readonly onChange: (value: T) => void
  readonly options: readonly { readonly value: T; readonly label: ReactNode; readonly name?: string }[]
  readonly label: string
}

/** One choice of few, all in sight. */
export function Segments<T extends string>({ value, onChange, options, label }: SegmentsProps<T>) {
  return (
    <div
      role="group"
      aria-label={label}
      className="inline-flex h-7 max-w-full shrink-0 items-center overflow-x-auto rounded-md bg-hover p-0.5"
    >
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={value === option.value}
          aria-label={option.name}
          onClick={() => onChange(option.value)}
          className="h-6 shrink-0 rounded-[5px] px-2 text-xs font-medium text-mute hover:text-ink aria-pressed:bg-raised aria-pressed:text-ink aria-pressed:shadow-card"
        >
          {option.label}
        </button>
      ))}
    </div>
  )
}
