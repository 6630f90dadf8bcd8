'use client'
import type { LiveFrame } from '@conch/server/schemas'
import { Activity, Pause, Play } from 'lucide-react'
import { parseAsString, parseAsStringLiteral, useQueryStates } from 'nuqs'
import { useMemo, useState } from 'react'
import { useConnection } from '../../api/connection.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Card, Skeleton } from '../../ui/card.tsx'
import { Select } from '../../ui/field.tsx'
import { Empty } from '../../ui/message.tsx'
import { Page } from '../../ui/page.tsx'
import { Retry } from '../../ui/retry.tsx'
import { Segments } from '../../ui/tabs.tsx'
import { listModels } from './frames.ts'
import { LiveChart } from './live-chart.tsx'
import { explainSilence } from './silence.ts'
import { buildPanels } from './panels.ts'
import { Totals } from './totals.tsx'
import { useFrames } from './use-frames.ts'

const WINDOWS = ['60', '300', '900'] as const
const WINDOW_LABELS = [
  { value: '60', label: '1 min' },
  { value: '300', label: '5 min' },
  { value: '900', label: '15 min' },
] as const

export function LiveScreen() {
  const { frames, ready, failure } = useFrames()
  const [view, setView] = useQueryStates({
    model: parseAsString.withDefault(''),
    window: parseAsStringLiteral(WINDOWS).withDefault('60'),
  })
  const [frozen, setFrozen] = useState<readonly LiveFrame[] | null>(null)
  const shown = frozen ?? frames
  const models = useMemo(() => listModels(shown), [shown])
  return (
    <Page
      title="Live"
      note={<LiveNote paused={frozen !== null} />}
      actions={
        <>
          <Select
            aria-label="Model"
            className="max-w-52"
            value={view.model}
            onChange={(event) => void setView({ model: event.target.value || null })}
          >
            <option value="">All models</option>
            {(models.includes(view.model) || view.model === '' ? models : [view.model, ...models]).map((name) => (
              <option key={name}>{name}</option>
            ))}
          </Select>
          <Segments
            label="Window"
            value={view.window}
            onChange={(window) => void setView({ window })}
            options={WINDOW_LABELS}
          />
          <Button onClick={() => setFrozen(frozen === null ? frames : null)} aria-pressed={frozen !== null}>
            {frozen === null ? <Pause aria-hidden /> : <Play aria-hidden />}
            {frozen === null ? 'Pause' : 'Go on'}
          </Button>
        </>
      }
    >
      {failure !== null && frames.length === 0 ? (
        <Retry what="The history could not be read" message={failure} onRetry={() => window.location.reload()} />
      ) : ready && shown.length > 0 ? (
        <Charts frames={shown} model={view.model} seconds={Number(view.window)} paused={frozen !== null} />
      ) : ready ? (
        <Waiting />
      ) : (
        <Skeleton className="h-96" />
      )}
    </Page>
  )
}

function LiveNote({ paused }: { paused: boolean }) {
  const { state } = useConnection()
  if (paused) return <span className="text-warn">Paused; still listening</span>
  return state === 'online' ? 'Once a second' : <span className="text-warn">Waiting for the server…</span>
}

function Waiting() {
  return (
    <Card>
      <Empty
        icon={Activity}
        title="The first numbers are on their way"
        action={<ButtonLink href="/playground">Open the playground</ButtonLink>}
      >
        They come once a second. Send a request meanwhile, so that there is something to see.
      </Empty>
    </Card>
  )
}

interface ChartsProps {
  readonly frames: readonly LiveFrame[]
  readonly model: string
  readonly seconds: number
  readonly paused: boolean
}

function Charts({ frames, model, seconds, paused }: ChartsProps) {
  const { state } = useConnection()
  const now = frames.at(-1)?.at ?? 0
  const panels = useMemo(() => buildPanels({ frames, model, seconds, now }), [frames, model, seconds, now])
  return (
    <>
      <Totals frames={frames} model={model} />
      <div className="mt-3 grid gap-3 md:grid-cols-2 xl:grid-cols-3">
        {panels.map((panel) => (
          <LiveChart
            key={panel.title}
            panel={panel}
            from={now - seconds * 1000}
            to={now}
            silence={explainSilence(panel, { model, seconds, paused, lost: state === 'lost' })}
          />
        ))}
      </div>
    </>
  )
}
