'use client'
import type { ModelDetails } from '@conch/server/schemas'
import { useQuery } from '@tanstack/react-query'
import { ChevronRight, PowerOff } from 'lucide-react'
import Link from 'next/link'
import { parseAsString, useQueryState } from 'nuqs'
import { useTRPC } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { Card, Skeleton } from '../../ui/card.tsx'
import { Empty } from '../../ui/message.tsx'
import { Page } from '../../ui/page.tsx'
import { Retry } from '../../ui/retry.tsx'
import { StateMark } from '../../ui/state.tsx'
import { usePathName } from '../../ui/use-path-name.ts'
import { AnswerPanel } from './answer-panel.tsx'
import { PlaygroundActions } from './playground-actions.tsx'
import { RequestPanel } from './request-panel.tsx'
import { usePlayground } from './use-playground.ts'

export function PlaygroundScreen() {
  const name = usePathName()
  const trpc = useTRPC()
  const [version] = useQueryState('version', parseAsString.withDefault(''))
  const chosen = { model: name, ...(version === '' ? {} : { version }) }
  const details = useQuery(trpc.models.get.queryOptions(chosen, { enabled: name !== '_' }))
  const ready = details.data?.state === 'READY'
  const example = useQuery(
    trpc.playground.example.queryOptions(chosen, { enabled: ready, staleTime: Infinity, gcTime: 0 }),
  )
  const error = details.error ?? example.error
  if (details.data !== undefined && !ready) return <NotReady model={details.data} />
  if (details.data !== undefined && example.data !== undefined) {
    return <Playground key={`${name}/${version}`} model={details.data} version={version} example={example.data} />
  }
  return (
    <Page title={<Crumbs name={name} />}>
      {error === null ? (
        <Skeleton className="h-96" />
      ) : (
        <Retry
          what={`“${name}” cannot be asked`}
          message={readFailure(error).message}
          onRetry={() => void (details.error ? details : example).refetch()}
        />
      )}
    </Page>
  )
}

function Crumbs({ name }: { name: string }) {
  return (
    <span className="flex min-w-0 items-center gap-1">
      <Link href="/playground" className="rounded font-normal text-mute hover:text-ink">
        Playground
      </Link>
      <ChevronRight className="size-3.5 shrink-0 text-mute" aria-hidden />
      <Link
        href={`/models/${encodeURIComponent(name)}`}
        prefetch={false}
        className="min-w-0 rounded break-all hover:underline"
      >
        {name}
      </Link>
    </span>
  )
}

function NotReady({ model }: { model: ModelDetails }) {
  return (
    <Page title={<Crumbs name={model.name} />} note={<StateMark state={model.state} reason={model.reason} />}>
      <Card>
        <Empty
          icon={PowerOff}
          title="This model is not ready"
          action={
            <ButtonLink href={`/models/${encodeURIComponent(model.name)}`} prefetch={false}>
              Go to the model and load it
            </ButtonLink>
          }
        >
          {model.reason || 'It can be asked once a version is loaded.'}
        </Empty>
      </Card>
    </Page>
  )
}

interface PlaygroundProps {
  readonly model: ModelDetails
  readonly version: string
  readonly example: string
}

function Playground({ model, version, example }: PlaygroundProps) {
  const playground = usePlayground({ model, version, example })
  return (
    <Page
      title={<Crumbs name={model.name} />}
      actions={<PlaygroundActions model={model} version={version} playground={playground} />}
    >
      <div className="grid grid-cols-1 items-start gap-3 lg:grid-cols-2">
        <RequestPanel model={model} version={version} playground={playground} />
        <AnswerPanel model={model} playground={playground} />
      </div>
    </Page>
  )
}
