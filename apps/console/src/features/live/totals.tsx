'use client'
import type { LiveFrame } from '@conch/server/schemas'
import { Card } from '../../ui/card.tsx'
import { cn } from '../../ui/cn.ts'
import { sumFrame } from './sum-frame.ts'

/** The last second in numbers. */
export function Totals({ frames, model }: { frames: readonly LiveFrame[]; model: string }) {
  const last = frames.at(-1)
  if (last === undefined) return null
  return (
    <Card className="grid grid-cols-2 divide-line sm:grid-cols-4 xl:grid-cols-8 xl:divide-x">
      {sumFrame(last, model).map(({ label, text, bad }) => (
        <div key={label} className="px-3 py-2">
          <div className="text-xs text-mute">{label}</div>
          <div className={cn('text-lg leading-tight font-semibold tracking-tight tabular-nums', bad && 'text-bad')}>
            {text}
          </div>
        </div>
      ))}
    </Card>
  )
}
