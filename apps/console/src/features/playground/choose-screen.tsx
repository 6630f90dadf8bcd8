'use client'
import type { ModelRow } from '@conch/server/schemas'
import { useQuery } from '@tanstack/react-query'
import { ArrowRight, FlaskConical } from 'lucide-react'
import Link from 'next/link'
import { useState } from 'react'
import { useTRPC } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { Card, Skeleton } from '../../ui/card.tsx'
import { Input } from '../../ui/field.tsx'
import { Empty } from '../../ui/message.tsx'
import { Page } from '../../ui/page.tsx'
import { Retry } from '../../ui/retry.tsx'

const MOST_SHOWN = 60

/** Which model to ask. */
export function ChooseScreen() {
  const trpc = useTRPC()
  const [text, setText] = useState('')
  const { data, error, refetch } = useQuery(trpc.models.list.queryOptions())
  const wanted = text.trim().toLowerCase()
  const ready = data?.filter((row) => row.state === 'READY' && row.name.toLowerCase().includes(wanted))
  return (
    <Page
      title="Playground"
      note="Ask a model that is ready"
      actions={
        <Input
          data-page-search
          type="search"
          aria-label="Search"
          placeholder="Search"
          className="w-52"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      }
    >
      {ready !== undefined ? (
        <ReadyModels rows={ready} searched={wanted !== ''} />
      ) : error !== null ? (
        <Retry
          what="The models could not be listed"
          message={readFailure(error).message}
          onRetry={() => void refetch()}
        />
      ) : (
        <Skeleton className="h-40" />
      )}
    </Page>
  )
}

function ReadyModels({ rows, searched }: { rows: readonly ModelRow[]; searched: boolean }) {
  if (rows.length === 0) {
    return (
      <Card>
        <Empty
          icon={FlaskConical}
          title={searched ? 'No model matches' : 'No model is ready'}
          action={<ButtonLink href="/models">See the models</ButtonLink>}
        >
          {searched ? 'Only models that are ready are listed here.' : 'Load one, and it can be asked here.'}
        </Empty>
      </Card>
    )
  }
  const more = rows.length - MOST_SHOWN
  return (
    <ul className="grid gap-2 sm:grid-cols-2 lg:grid-cols-3">
      {rows.slice(0, MOST_SHOWN).map((row) => (
        <li key={row.name}>
          <Link
            href={`/playground/${encodeURIComponent(row.name)}`}
            prefetch={false}
            className="group flex items-center gap-3 rounded-lg border border-line bg-panel px-3 py-2.5 shadow-card hover:border-edge"
          >
            <span className="min-w-0 flex-1">
              <span className="block truncate font-medium">{row.name}</span>
              <span className="block truncate text-xs text-mute">
                {row.backend} · version {row.versions.map((version) => version.version).join(', ')}
              </span>
            </span>
            <ArrowRight className="size-4 text-mute group-hover:text-ink" aria-hidden />
          </Link>
        </li>
      ))}
      {more > 0 && <li className="p-2 text-mute">and {more} more: search for them</li>}
    </ul>
  )
}
