'use client'
import type { EffectiveValue } from '@conch/server/schemas'
import { SearchX, Settings2 } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Badge, Card, CardHead, type Tone } from '../../ui/card.tsx'
import { Check, Input } from '../../ui/field.tsx'
import { Empty } from '../../ui/message.tsx'

const ORIGINS: Readonly<Record<EffectiveValue['origin'], { tone: Tone; label: string; note: string }>> = {
  file: { tone: 'accent', label: 'file', note: 'Written in config.pbtxt' },
  'auto-complete': { tone: 'good', label: 'auto', note: 'Read from the model' },
  override: { tone: 'warn', label: 'override', note: 'Given with the load request; lost at the next load' },
  default: { tone: 'plain', label: 'default', note: 'Nobody set it' },
}

/** Every setting in force and who set it. */
export function EffectiveTab({ values }: { values: readonly EffectiveValue[] }) {
  const [text, setText] = useState('')
  const [defaults, setDefaults] = useState(false)
  const shown = values.filter(
    (row) => (defaults || row.origin !== 'default') && row.path.toLowerCase().includes(text.trim().toLowerCase()),
  )
  return (
    <Card className="overflow-hidden">
      <CardHead title="Effective config" note="what is in force, and where it comes from">
        <Check label="Defaults too" checked={defaults} onChange={(event) => setDefaults(event.target.checked)} />
        <Input
          data-page-search
          type="search"
          aria-label="Search the settings"
          placeholder="Search"
          className="h-7 w-44"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </CardHead>
      {shown.length > 0 ? (
        <EffectiveTable rows={shown} />
      ) : values.length === 0 ? (
        <Empty icon={Settings2} title="Not known while nothing is loaded">
          Load the model, and this shows every value with its origin.
        </Empty>
      ) : (
        <Empty
          icon={SearchX}
          title="No setting matches"
          action={<Button onClick={() => [setText(''), setDefaults(true)]}>Show all {values.length}</Button>}
        >
          Settings at their default are left out unless asked for.
        </Empty>
      )}
    </Card>
  )
}

function EffectiveTable({ rows }: { rows: readonly EffectiveValue[] }) {
  return (
    <dl className="divide-y">
      {rows.map((row) => {
        const origin = ORIGINS[row.origin]
        return (
          <div
            key={row.path}
            className="flex min-h-8 flex-wrap items-center gap-x-3 px-3 py-1 font-mono text-xs hover:bg-hover/60"
          >
            <dt className="w-1/2 break-words text-soft max-md:w-full">{row.path}</dt>
            <dd className="min-w-0 flex-1 break-words">{row.value}</dd>
            <dd className="font-sans">
              <Badge tone={origin.tone} title={origin.note}>
                {origin.label}
              </Badge>
            </dd>
          </div>
        )
      })}
    </dl>
  )
}
