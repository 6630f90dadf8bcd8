import type { StageTimes } from '@conch/server/schemas'
import { formatMicros } from '../../ui/format.ts'
import { splitTiming } from './timing.ts'

/** Where the time of one request went. */
export function TimingBar({ timing, clientMs }: { timing: StageTimes; clientMs: number }) {
  const parts = splitTiming(timing, clientMs)
  const server = parts.slice(0, -1)
  const total = Math.max(1, timing.totalUs)
  return (
    <div data-testid="timing">
      <div className="mb-1 flex items-baseline gap-2">
        <span className="text-lg font-semibold tracking-tight tabular-nums">{formatMicros(timing.totalUs)}</span>
        <span className="text-xs text-mute">in the server · {formatMicros(clientMs * 1000)} seen from here</span>
      </div>
      <div
        className="flex h-2.5 overflow-hidden rounded bg-hover"
        role="img"
        aria-label={server.map((part) => `${part.label} ${formatMicros(part.us)}`).join(', ')}
      >
        {server.map((part) => (
          <span key={part.label} style={{ width: `${(part.us / total) * 100}%`, background: part.colour }} />
        ))}
      </div>
      <dl className="mt-1.5 flex flex-wrap gap-x-4 gap-y-0.5 text-xs">
        {parts.map((part) => (
          <div key={part.label} className="flex items-center gap-1.5">
            <span aria-hidden className="size-2 rounded-sm border border-line" style={{ background: part.colour }} />
            <dt className="text-mute">{part.label}</dt>
            <dd className="tabular-nums">{formatMicros(part.us)}</dd>
          </div>
        ))}
      </dl>
    </div>
  )
}
