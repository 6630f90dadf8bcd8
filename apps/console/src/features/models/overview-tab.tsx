'use client'
import type { ModelDetails, TensorRow } from '@conch/server/schemas'
import { PowerOff } from 'lucide-react'
import type { ReactNode } from 'react'
import { Badge, Card, CardHead } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { formatBytes, formatCount, formatShape } from '../../ui/format.ts'
import { Empty } from '../../ui/message.tsx'
import { readFacts } from './facts.ts'
import { InstancesCard } from './instances-card.tsx'
import { LogCard } from './log-card.tsx'
import { ReadmeCard } from './readme-card.tsx'

export function OverviewTab({ model }: { model: ModelDetails }) {
  const { metadata } = model
  return (
    <div className="grid grid-cols-1 items-start gap-3 lg:grid-cols-[minmax(0,1.6fr)_minmax(0,1fr)]">
      <div className="min-w-0 space-y-3">
        {metadata === null ? (
          <Card>
            <Empty icon={PowerOff} title="No version is ready">
              Inputs and outputs are known once it is loaded. The config and the files can be looked at all the same.
            </Empty>
          </Card>
        ) : (
          <>
            <TensorCard title="Inputs" rows={metadata.inputs} />
            <TensorCard title="Outputs" rows={metadata.outputs} labels={model.labels} />
          </>
        )}
        <InstancesCard model={model.name} />
        <LogCard model={model.name} />
        {model.readme !== null && <ReadmeCard text={model.readme} />}
      </div>
      <FactsCard model={model} />
    </div>
  )
}

interface TensorCardProps {
  readonly title: string
  readonly rows: readonly TensorRow[]
  readonly labels?: ModelDetails['labels']
}

function TensorCard({ title, rows, labels }: TensorCardProps) {
  return (
    <Card className="overflow-x-auto">
      <CardHead title={title} note={formatCount(rows.length)} />
      <table className="w-full table-fixed">
        <thead className="text-left text-xs text-mute">
          <tr className="h-7 border-b">
            <th className="w-1/2 px-3 font-medium">Name</th>
            <th className="w-24 px-3 font-medium">Type</th>
            <th className="px-3 font-medium">Shape</th>
          </tr>
        </thead>
        <tbody className="divide-y">
          {rows.map((row) => (
            <tr key={row.name} className="h-9">
              <td className="px-3 font-mono text-xs">
                <span className="break-all">{row.name}</span> <LabelCount labels={labels?.[row.name]} />
              </td>
              <td className="px-3">
                <Badge>{row.datatype}</Badge>
              </td>
              <td className="px-3 font-mono text-xs whitespace-nowrap text-soft" title="-1 = any size">
                {formatShape(row.shape)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}

const SHOWN_LABELS = 20

function LabelCount({ labels }: { labels: readonly string[] | undefined }) {
  if (labels === undefined || labels.length === 0) return null
  return <Badge title={labels.slice(0, SHOWN_LABELS).join(', ')}>{formatCount(labels.length)} labels</Badge>
}

function FactsCard({ model }: { model: ModelDetails }) {
  const facts: readonly (readonly [string, ReactNode])[] = [
    ...readFacts(model.effective),
    ['Repository', model.repository + (model.writable ? '' : ' (read-only)')],
    ['Size', formatBytes(model.files.reduce((sum, file) => sum + file.size, 0))],
    ['Samples', model.samples.length === 0 ? 'none' : model.samples.map((sample) => sample.name).join(', ')],
  ]
  return (
    <Card>
      <CardHead title="Facts">
        <CopyButton
          text={`/v2/models/${encodeURIComponent(model.name)}/infer`}
          label="Copy the path for inference"
          named
        />
      </CardHead>
      <dl className="divide-y">
        {facts.map(([name, value]) => (
          <div key={name} className="flex min-h-9 items-center gap-3 px-3 py-1">
            <dt className="w-28 shrink-0 text-mute">{name}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}
