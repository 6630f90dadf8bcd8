'use client'
import type { InstanceRow, InstancesNow } from '@conch/server/schemas'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '../../api/client.ts'
import { Badge, Card, CardHead } from '../../ui/card.tsx'
import { formatBytes, formatCount, formatPercent } from '../../ui/format.ts'
import { measureCpu } from './process-load.ts'

const REFRESH_MS = 2000

/** The processes of a model's instances: what they use, and how often they had to be started anew. */
export function InstancesCard({ model }: { model: string }) {
  const trpc = useTRPC()
  const { data } = useQuery(trpc.models.instances.queryOptions({ model }, { refetchInterval: REFRESH_MS }))
  const before = usePrevious(data)
  const rows = data?.instances.filter(({ process, healthy }) => process !== null || !healthy) ?? []
  if (data === undefined || rows.length === 0) return null
  return (
    <Card className="overflow-x-auto">
      <CardHead title="Instances" note="a process each" />
      <table className="w-full">
        <thead className="text-left text-xs text-mute">
          <tr className="h-7 border-b [&>th]:px-3 [&>th]:font-medium [&>th]:whitespace-nowrap">
            <th className="w-full">Instance</th>
            <th className="text-right">Pid</th>
            <th className="text-right">CPU</th>
            <th className="text-right">Memory</th>
            <th className="text-right">Restarts</th>
          </tr>
        </thead>
        <tbody className="divide-y">
          {rows.map((row) => (
            <InstanceLine key={`${row.version}/${row.name}`} row={row} cpu={measureCpu(before, data, row)} />
          ))}
        </tbody>
      </table>
    </Card>
  )
}

function InstanceLine({ row, cpu }: { row: InstanceRow; cpu: number | null }) {
  const { version, name, healthy, process } = row
  const exit = process?.lastExit ?? null
  return (
    <>
      <tr className="h-9 [&>td]:px-3 [&>td]:py-1 [&>td]:whitespace-nowrap [&>td]:tabular-nums">
        <td className="!whitespace-normal">
          <span className="font-mono text-xs break-all">{name}</span>{' '}
          <span className="text-mute">version {version}</span> {!healthy && <Badge tone="bad">down</Badge>}
        </td>
        <td className="text-right">{process?.pid ?? '–'}</td>
        <td className="text-right">{cpu === null ? '–' : formatPercent(cpu)}</td>
        <td className="text-right">{formatMemory(process?.residentBytes ?? null)}</td>
        <td className="text-right">{process === null ? '–' : formatCount(process.restarts)}</td>
      </tr>
      {exit !== null && (
        <tr className="!border-t-0">
          <td colSpan={5} className="px-3 pb-2 text-xs break-words text-mute">
            Last exit: {exit}
          </td>
        </tr>
      )}
    </>
  )
}

function formatMemory(bytes: number | null): string {
  return bytes === null ? '–' : formatBytes(bytes)
}

/** The value before the present one. */
function usePrevious(now: InstancesNow | undefined): InstancesNow | undefined {
  const [seen, setSeen] = useState<{ now: InstancesNow | undefined; before: InstancesNow | undefined }>({
    now,
    before: undefined,
  })
  if (seen.now !== now) setSeen({ now, before: seen.now })
  return seen.now === now ? seen.before : seen.now
}
