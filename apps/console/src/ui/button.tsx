import { cva, type VariantProps } from 'class-variance-authority'
import Link from 'next/link'
import type { ComponentProps } from 'react'
import { cn } from './cn.ts'

const look = cva(
  'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap transition-colors select-none disabled:opacity-50 aria-disabled:opacity-50 [&_svg]:size-3.5 [&_svg]:shrink-0',
  {
    variants: {
      tone: {
        primary: 'bg-accent-fill text-white hover:brightness-110',
        plain: 'border border-line bg-panel text-ink shadow-card hover:bg-hover',
        quiet: 'text-soft hover:bg-hover hover:text-ink',
        danger: 'bg-bad-fill text-white hover:brightness-110',
      },
      size: {
        small: 'h-7 px-2 text-xs',
        normal: 'h-8 px-3 text-[13px]',
        large: 'h-10 px-4 text-sm',
        icon: 'size-8 max-md:size-9',
        tiny: 'size-6',
      },
    },
    defaultVariants: { tone: 'plain', size: 'normal' },
  },
)

type Look = VariantProps<typeof look>

export function Button({ tone, size, className, type = 'button', ...rest }: ComponentProps<'button'> & Look) {
  return <button type={type} className={cn(look({ tone, size }), className)} {...rest} />
}

export function ButtonLink({ tone, size, className, ...rest }: ComponentProps<typeof Link> & Look) {
  return <Link className={cn(look({ tone, size }), className)} {...rest} />
}
