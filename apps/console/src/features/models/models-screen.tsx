'use client'
import { useQuery } from '@tanstack/react-query'
import { Boxes, SearchX, UploadCloud } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useTRPC } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import { useSession } from '../../api/session.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Card, Skeleton } from '../../ui/card.tsx'
import { Empty } from '../../ui/message.tsx'
import { Page } from '../../ui/page.tsx'
import { Retry } from '../../ui/retry.tsx'
import { BulkPanel } from './bulk-panel.tsx'
import { filterModels } from './model-filter.ts'
import { ModelsTable } from './models-table.tsx'
import { ModelsToolbar } from './models-toolbar.tsx'
import { SelectionBar } from './selection-bar.tsx'
import { useBulk } from './use-bulk.ts'
import { useModelFilter } from './use-model-filter.ts'

/** State changes come by events; the rates of the last minute are asked for this often. */
const REFRESH_MS = 3000

export function ModelsScreen() {
  const trpc = useTRPC()
  const { data, error, refetch } = useQuery(trpc.models.list.queryOptions(undefined, { refetchInterval: REFRESH_MS }))
  const note = data === undefined ? undefined : `${data.length} in the repository`
  return (
    <Page
      title="Models"
      note={note}
      fill
      actions={
        <ButtonLink href="/deploy" tone="primary">
          <UploadCloud aria-hidden /> Deploy a model
        </ButtonLink>
      }
    >
      {data !== undefined ? (
        data.length === 0 ? (
          <NoModels />
        ) : (
          <ModelsList rows={data} />
        )
      ) : error !== null ? (
        <Retry
          what="The models could not be listed"
          message={readFailure(error).message}
          onRetry={() => void refetch()}
        />
      ) : (
        <ListSkeleton />
      )}
    </Page>
  )
}

function ModelsList({ rows }: { rows: Parameters<typeof filterModels>[0] }) {
  const { filter, setFilter, clear } = useModelFilter()
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const bulk = useBulk()
  const shown = useMemo(() => filterModels(rows, filter), [rows, filter])
  const selected = useMemo(() => rows.filter((row) => chosen.has(row.name)).map((row) => row.name), [rows, chosen])
  return (
    <>
      <ModelsToolbar rows={rows} filter={filter} setFilter={setFilter} />
      <Card className="relative flex min-h-0 flex-col overflow-hidden">
        {shown.length === 0 ? (
          <Empty icon={SearchX} title="No model matches" action={<Button onClick={clear}>Clear the filter</Button>}>
            None of the {rows.length} models fits this search and filter.
          </Empty>
        ) : (
          <ModelsTable rows={shown} filter={filter} setFilter={setFilter} chosen={chosen} setChosen={setChosen} />
        )}
        <SelectionBar models={selected} onStart={bulk.start} onClear={() => setChosen(new Set())} />
      </Card>
      <BulkPanel bulk={bulk} />
    </>
  )
}

function NoModels() {
  const { server } = useSession()
  return (
    <Card>
      <Empty
        icon={Boxes}
        title="No models yet"
        action={
          <ButtonLink href="/deploy" tone="primary">
            <UploadCloud aria-hidden /> Deploy the first one
          </ButtonLink>
        }
      >
        Drop an .onnx file in, or put a model’s folder into{' '}
        {server.repositories.map((name) => `“${name}”`).join(', ') || 'the model repository'}: it shows up here by
        itself.
      </Empty>
    </Card>
  )
}

function ListSkeleton() {
  return (
    <Card className="space-y-3 p-3" aria-busy>
      {Array.from({ length: 9 }, (_, index) => (
        <Skeleton key={index} className="h-7" />
      ))}
    </Card>
  )
}
