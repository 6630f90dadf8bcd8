'use client'
import type { TensorRow } from '@conch/server/schemas'
import type { DraftTensor } from './draft.ts'

interface ShapeFieldProps {
  readonly input: DraftTensor
  readonly row: TensorRow | undefined
  readonly onChange: (change: Partial<DraftTensor>) => void
}

const LARGEST_DIM = 100_000_000

/** The shape that is sent: fixed dimensions are fixed, free ones can be changed. */
export function ShapeField({ input, row, onChange }: ShapeFieldProps) {
  const same = row === undefined || row.shape.length === input.shape.length
  return (
    <div className="mb-1.5 flex flex-wrap items-center gap-1 text-xs text-mute">
      <span>Shape sent</span>
      {input.shape.map((dim, index) => {
        const free = !same || row === undefined || row.shape[index] === -1
        return free ? (
          <input
            key={index}
            type="number"
            min={0}
            max={LARGEST_DIM}
            aria-label={`Dimension ${index + 1} of ${input.name}`}
            className="h-6 w-16 rounded border border-edge bg-panel px-1.5 font-mono text-ink"
            value={dim}
            onChange={(event) => {
              const next = Math.max(0, Math.min(LARGEST_DIM, Math.trunc(Number(event.target.value)) || 0))
              onChange({ shape: input.shape.map((each, at) => (at === index ? next : each)) })
            }}
          />
        ) : (
          <span
            key={index}
            className="flex h-6 items-center rounded bg-hover px-1.5 font-mono"
            title="The model fixes this one"
          >
            {dim}
          </span>
        )
      })}
      {input.shape.length === 0 && <span className="font-mono">scalar</span>}
    </div>
  )
}
