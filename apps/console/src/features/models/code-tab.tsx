'use client'
import type { ModelDetails } from '@conch/server/schemas'
import { useQuery } from '@tanstack/react-query'
import { PencilLine } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { parseAsString, useQueryState } from 'nuqs'
import { useTRPC } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import { useRefusal } from '../../api/session.tsx'
import { Action } from '../../ui/action.tsx'
import { Card, CardHead, Skeleton } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Select } from '../../ui/field.tsx'
import { Notice } from '../../ui/message.tsx'
import { LazyPythonEditor } from '../../ui/python/lazy-editor.tsx'
import { markFailure } from '../../ui/python/mark-failure.ts'
import { Traceback } from '../../ui/python/traceback.tsx'
import { listSources } from './sources.ts'

/** The source of a version; changing it makes the next one. */
export function CodeTab({ model }: { model: ModelDetails }) {
  const trpc = useTRPC()
  const versions = listSources(model)
  const [wanted, setWanted] = useQueryState('version', parseAsString)
  const version = versions.find((each) => each === wanted) ?? versions[0] ?? ''
  const path = `${version}/model.py`
  const { data, error } = useQuery(trpc.models.file.queryOptions({ model: model.name, path }))
  const failure = model.failures.find((each) => each.version === version)
  const mark = failure === undefined || data === undefined ? null : markFailure(failure, data)
  return (
    <div className="space-y-3">
      {failure !== undefined && (
        <Notice tone="bad" title={`Version ${version} does not load`}>
          <Traceback failure={failure} />
        </Notice>
      )}
      <Card className="flex h-[36rem] max-h-[75vh] flex-col overflow-hidden has-[.cm-focused]:border-accent has-[.cm-focused]:ring-1 has-[.cm-focused]:ring-accent">
        <CardHead title="model.py" note="as it is on disk">
          {versions.length > 1 && (
            <Select
              aria-label="Version"
              className="h-7 text-xs"
              value={version}
              onChange={(event) => void setWanted(event.target.value)}
            >
              {versions.map((each) => (
                <option key={each} value={each}>
                  Version {each}
                </option>
              ))}
            </Select>
          )}
          <EditButton model={model} version={version} />
          {data !== undefined && <CopyButton text={data} label="Copy the source" />}
        </CardHead>
        <div className="min-h-0 flex-1">
          {error !== null ? (
            <Notice tone="bad" className="m-3">
              {readFailure(error).message}
            </Notice>
          ) : data === undefined ? (
            <Skeleton className="m-3 h-40" />
          ) : (
            <LazyPythonEditor
              readOnly
              value={data}
              onChange={ignore}
              problems={mark === null ? NONE : [mark]}
              label={`model.py of ${model.name}, version ${version}`}
            />
          )}
        </div>
      </Card>
    </div>
  )
}

const NONE = [] as const
const ignore = () => undefined

function EditButton({ model, version }: { model: ModelDetails; version: string }) {
  const router = useRouter()
  const editor = useRefusal('editor')
  const why = editor ?? (model.writable ? null : 'Its repository is read-only.')
  const open = () => router.push(`/deploy?edit=${encodeURIComponent(model.name)}&version=${version}`)
  return (
    <Action size="small" why={why} onClick={open}>
      <PencilLine aria-hidden /> Edit as a new version
    </Action>
  )
}
