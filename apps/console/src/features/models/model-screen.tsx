'use client'
import type { ModelDetails } from '@conch/server/schemas'
import { useQuery } from '@tanstack/react-query'
import { ChevronRight } from 'lucide-react'
import Link from 'next/link'
import { parseAsStringLiteral, useQueryState } from 'nuqs'
import { useTRPC } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import { Badge, Skeleton } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Notice } from '../../ui/message.tsx'
import { Page } from '../../ui/page.tsx'
import { Retry } from '../../ui/retry.tsx'
import { displayState, StateMark } from '../../ui/state.tsx'
import { Traceback } from '../../ui/python/traceback.tsx'
import { TabPanel, Tabs } from '../../ui/tabs.tsx'
import { usePathName } from '../../ui/use-path-name.ts'
import { CodeTab } from './code-tab.tsx'
import { ConfigTab } from './config-tab.tsx'
import { EffectiveTab } from './effective-tab.tsx'
import { FilesTab } from './files-tab.tsx'
import { ModelActions } from './model-actions.tsx'
import { OverviewTab } from './overview-tab.tsx'
import { listSources } from './sources.ts'
import { StatisticsTab } from './statistics-tab.tsx'
import { VersionsTab } from './versions-tab.tsx'

const TABS = ['overview', 'code', 'config', 'effective', 'versions', 'files', 'stats'] as const
const REFRESH_MS = 4000

export function ModelScreen() {
  const name = usePathName()
  const trpc = useTRPC()
  const { data, error, refetch } = useQuery(
    trpc.models.get.queryOptions({ model: name }, { refetchInterval: REFRESH_MS, enabled: name !== '_' }),
  )
  return (
    <Page
      title={<Crumbs name={name} />}
      note={data && <StateMark state={data.state} reason={data.reason} />}
      actions={data && <ModelActions model={data} />}
    >
      {data !== undefined ? (
        <ModelTabs model={data} />
      ) : error !== null ? (
        <Retry
          what={`“${name}” could not be read`}
          message={readFailure(error).message}
          onRetry={() => void refetch()}
        />
      ) : (
        <Skeleton className="h-96" />
      )}
    </Page>
  )
}

function Crumbs({ name }: { name: string }) {
  return (
    <span className="flex min-w-0 items-center gap-1">
      <Link href="/models" className="rounded font-normal text-mute hover:text-ink">
        Models
      </Link>
      <ChevronRight className="size-3.5 shrink-0 text-mute" aria-hidden />
      <span className="min-w-0 break-all">{name}</span>
      <CopyButton text={name} label="Copy the name" />
    </span>
  )
}

function ModelTabs({ model }: { model: ModelDetails }) {
  const [tab, setTab] = useQueryState('tab', parseAsStringLiteral(TABS).withDefault('overview'))
  const errors = model.problems.filter((problem) => problem.severity === 'error').length
  const failed = displayState(model.state, model.reason) === 'UNAVAILABLE'
  const tabs = [
    { value: 'overview', label: 'Overview' },
    ...(listSources(model).length > 0 ? [{ value: 'code', label: 'Code' }] : []),
    { value: 'config', label: 'Config', badge: errors > 0 ? <Badge tone="bad">{errors}</Badge> : undefined },
    { value: 'effective', label: 'Effective' },
    { value: 'versions', label: 'Versions', badge: <Badge>{model.versions.length}</Badge> },
    { value: 'files', label: 'Files', badge: <Badge>{model.files.length}</Badge> },
    { value: 'stats', label: 'Statistics' },
  ]
  return (
    <>
      {/* The Code tab shows the place itself. */}
      {failed && !(tab === 'code' && model.failures.length > 0) && (
        <Notice tone="bad" title="This model could not be loaded" className="mb-3">
          <Reason model={model} />
        </Notice>
      )}
      <Tabs
        value={tab}
        onChange={(value) => void setTab(TABS.find((each) => each === value) ?? null)}
        tabs={tabs}
        label="About this model"
      >
        <TabPanel value="overview" className="pt-3">
          <OverviewTab model={model} />
        </TabPanel>
        <TabPanel value="code" className="pt-3">
          <CodeTab key={model.name} model={model} />
        </TabPanel>
        <TabPanel value="config" className="pt-3">
          <ConfigTab key={model.name} model={model} />
        </TabPanel>
        <TabPanel value="effective" className="pt-3">
          <EffectiveTab values={model.effective} />
        </TabPanel>
        <TabPanel value="versions" className="pt-3">
          <VersionsTab model={model} />
        </TabPanel>
        <TabPanel value="files" className="pt-3">
          <FilesTab model={model} />
        </TabPanel>
        <TabPanel value="stats" className="pt-3">
          <StatisticsTab statistics={model.statistics} />
        </TabPanel>
      </Tabs>
    </>
  )
}

/** An exception of the model's own code is shown with its place; the Code tab shows it in the source. */
function Reason({ model }: { model: ModelDetails }) {
  const [failure] = model.failures
  return failure === undefined ? model.reason : <Traceback failure={failure} />
}
