import { useId, type ComponentProps, type ReactNode } from 'react'
import { cn } from './cn.ts'

const BOX =
  'rounded-md border border-edge bg-panel text-ink placeholder:text-mute disabled:opacity-60 aria-invalid:border-bad'

export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return <input className={cn(BOX, 'h-8 w-full px-2.5 text-[13px] max-md:h-9', className)} {...rest} />
}

export function TextArea({ className, ...rest }: ComponentProps<'textarea'>) {
  return <textarea className={cn(BOX, 'w-full px-2.5 py-2 font-mono text-xs', className)} {...rest} />
}

export function Select({ className, children, ...rest }: ComponentProps<'select'>) {
  return (
    <select className={cn(BOX, 'h-8 min-w-0 px-2 text-[13px] max-md:h-9', className)} {...rest}>
      {children}
    </select>
  )
}

export function Checkbox({ className, ...rest }: ComponentProps<'input'>) {
  return (
    <input
      type="checkbox"
      className={cn('size-3.5 shrink-0 cursor-pointer accent-(--accent-fill)', className)}
      {...rest}
    />
  )
}

interface FieldProps {
  readonly label: string
  readonly hint?: ReactNode
  readonly error?: string | undefined
  readonly className?: string
  /** Receives the id and the aria attributes that tie label, hint and error to the control. */
  readonly children: (control: { id: string; 'aria-invalid': boolean; 'aria-describedby': string }) => ReactNode
}

export function Field({ label, hint, error, className, children }: FieldProps) {
  const id = useId()
  return (
    <div className={cn('min-w-0', className)}>
      <label htmlFor={id} className="mb-1 block text-xs font-medium text-soft">
        {label}
      </label>
      {children({ id, 'aria-invalid': error !== undefined, 'aria-describedby': `${id}-note` })}
      <p
        id={`${id}-note`}
        className={cn('mt-1 text-xs text-mute empty:hidden', error !== undefined && 'text-bad')}
        role={error === undefined ? undefined : 'alert'}
      >
        {error ?? hint}
      </p>
    </div>
  )
}

export function Check({ label, hint, ...rest }: ComponentProps<'input'> & { label: ReactNode; hint?: ReactNode }) {
  return (
    <label className="flex items-start gap-2">
      <Checkbox className="mt-0.5" {...rest} />
      <span>
        {label}
        {hint !== undefined && <span className="block text-xs text-mute">{hint}</span>}
      </span>
    </label>
  )
}
