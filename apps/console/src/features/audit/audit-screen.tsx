'use client'
import type { AuditRow } from '@conch/server/schemas'
import { useInfiniteQuery } from '@tanstack/react-query'
import { ScrollText } from 'lucide-react'
import { parseAsString, useQueryState } from 'nuqs'
import { useTRPC, useTRPCClient } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Badge, Card, Skeleton } from '../../ui/card.tsx'
import { Input } from '../../ui/field.tsx'
import { Empty } from '../../ui/message.tsx'
import { Page } from '../../ui/page.tsx'
import { Retry } from '../../ui/retry.tsx'
import { When } from '../../ui/when.tsx'
import { describeAction } from './describe-action.ts'

const PAGE = 100

export function AuditScreen() {
  const [object, setObject] = useQueryState('object', parseAsString.withDefault('').withOptions({ throttleMs: 300 }))
  return (
    <Page
      title="Audit"
      note="Every change, who made it, and how it ended"
      actions={
        <Input
          data-page-search
          type="search"
          aria-label="Only about"
          placeholder="Only about this model or user"
          className="w-60"
          value={object}
          onChange={(event) => void setObject(event.target.value || null)}
        />
      }
    >
      <AuditList object={object.trim()} onClear={() => void setObject(null)} />
    </Page>
  )
}

function AuditList({ object, onClear }: { object: string; onClear: () => void }) {
  const trpc = useTRPC()
  const client = useTRPCClient()
  const about = object === '' ? {} : { object }
  const query = useInfiniteQuery({
    queryKey: [...trpc.audit.list.queryKey(), 'pages', object],
    queryFn: ({ pageParam, signal }) =>
      client.audit.list.query(
        { limit: PAGE, ...about, ...(pageParam === null ? {} : { before: pageParam }) },
        { signal },
      ),
    initialPageParam: null as number | null,
    getNextPageParam: (page) => page.next,
  })
  const rows = query.data?.pages.flatMap((page) => page.rows)
  if (rows === undefined && query.error !== null) {
    return (
      <Retry
        what="The audit could not be read"
        message={readFailure(query.error).message}
        onRetry={() => void query.refetch()}
      />
    )
  }
  if (rows === undefined) return <Skeleton className="h-80" />
  if (rows.length === 0) return <NoEntries filtered={object !== ''} onClear={onClear} />
  return (
    <Card className="overflow-x-auto">
      <AuditTable rows={rows} />
      {query.hasNextPage && (
        <div className="border-t p-2 text-center">
          <Button tone="quiet" disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {query.isFetchingNextPage ? 'Reading…' : 'Show older'}
          </Button>
        </div>
      )}
    </Card>
  )
}

function NoEntries({ filtered, onClear }: { filtered: boolean; onClear: () => void }) {
  return (
    <Card>
      <Empty
        icon={ScrollText}
        title={filtered ? 'Nothing about that' : 'Nothing was changed yet'}
        action={
          filtered ? (
            <Button onClick={onClear}>Show everything</Button>
          ) : (
            <ButtonLink href="/deploy">Deploy a model</ButtonLink>
          )
        }
      >
        {filtered
          ? 'The name must be written in full, as it was at the time.'
          : 'Deploys, loads, config changes and sign-ins are written here.'}
      </Empty>
    </Card>
  )
}

function AuditTable({ rows }: { rows: readonly AuditRow[] }) {
  return (
    <table className="w-full min-w-[44rem]">
      <thead className="text-left text-xs text-mute">
        <tr className="h-8 border-b [&>th]:px-3 [&>th]:font-medium">
          <th>When</th>
          <th>Who</th>
          <th>What</th>
          <th>Object</th>
          <th className="w-full">Detail and outcome</th>
        </tr>
      </thead>
      <tbody className="divide-y">
        {rows.map((row) => (
          <tr key={row.id} className="h-9 align-top [&>td]:px-3 [&>td]:py-2 [&>td]:whitespace-nowrap">
            <td className="text-soft">
              <When at={row.at} />
            </td>
            <td title={`from ${row.from}`}>{row.who}</td>
            <td>{describeAction(row.action)}</td>
            <td className="font-medium">{row.object || '–'}</td>
            <td className="min-w-64 !whitespace-normal">
              {row.detail !== '' && <span className="mr-2 break-words text-soft">{row.detail}</span>}
              {row.outcome === 'done' ? (
                <Badge tone="good">done</Badge>
              ) : (
                <span className="break-words text-bad">{row.outcome}</span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
