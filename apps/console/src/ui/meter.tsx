import { cn } from './cn.ts'

interface MeterProps {
  readonly value: number
  readonly max: number
  readonly label: string
  readonly className?: string
}

export function Meter({ value, max, label, className }: MeterProps) {
  const share = max === 0 ? 0 : Math.min(1, value / max)
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={max}
      aria-valuenow={value}
      className={cn('h-1 shrink-0 overflow-hidden rounded-full bg-hover', className)}
    >
      <div className="h-full bg-accent-fill transition-[width]" style={{ width: `${share * 100}%` }} />
    </div>
  )
}
