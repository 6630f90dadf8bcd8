import { Check } from 'lucide-react'
import { cn } from '../../ui/cn.ts'

export function Steps({ names, current }: { names: readonly string[]; current: number }) {
  return (
    <ol className="flex items-center gap-1.5 text-xs" aria-label="Steps">
      {names.map((name, index) => (
        <li key={name} aria-current={index === current ? 'step' : undefined} className="flex items-center gap-1.5">
          {index > 0 && <span aria-hidden className="h-px w-4 bg-edge max-sm:w-2" />}
          <span
            aria-hidden
            className={cn(
              'flex size-4.5 items-center justify-center rounded-full border border-edge text-2xs text-mute',
              index < current && 'border-transparent bg-good-wash text-good',
              index === current && 'border-transparent bg-accent-fill text-white',
            )}
          >
            {index < current ? <Check className="size-3" /> : index + 1}
          </span>
          <span
            className={cn(
              'text-mute',
              index === current && 'font-medium text-ink',
              index !== current && 'max-sm:sr-only',
            )}
          >
            {name}
          </span>
        </li>
      ))}
    </ol>
  )
}
