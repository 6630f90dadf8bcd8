'use client'
import type { ModelDetails, Published } from '@conch/server/schemas'
import { useQuery } from '@tanstack/react-query'
import Link from 'next/link'
import { useRef, useState } from 'react'
import { useTRPC } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import { usePythonCheck } from '../../api/use-python-check.ts'
import { Card, CardHead, Skeleton } from '../../ui/card.tsx'
import type { EditorHandle } from '../../ui/editor/code-editor.tsx'
import { Retry } from '../../ui/retry.tsx'
import { hasErrors } from '../../ui/pbtxt/local-check.ts'
import { LoadFailure, LoadProgress } from './load-progress.tsx'
import { PublishCard } from './publish-card.tsx'
import { RequirementsCard } from './python-form-card.tsx'
import { SourceCard, SourceChecks } from './source-card.tsx'
import { useModelName } from './use-model-name.ts'
import { useProblems, usePublishOrStay } from './write-step.tsx'

interface EditProps {
  readonly model: string
  readonly version: string
  readonly onPublished: (published: Published) => void
  readonly onCancel: () => void
}

/** The source of a version, on its way to become the next one. */
export function EditStep(props: EditProps) {
  const { model, version } = props
  const trpc = useTRPC()
  const details = useQuery(trpc.models.get.queryOptions({ model }, { staleTime: Infinity }))
  const has = (path: string) => details.data?.files.some((file) => file.path === path) === true
  const options = { staleTime: Infinity, gcTime: 0 }
  const source = useQuery(trpc.models.file.queryOptions({ model, path: `${version}/model.py` }, options))
  const listed = `${version}/requirements.txt`
  const requirements = useQuery(
    trpc.models.file.queryOptions({ model, path: listed }, { ...options, enabled: has(listed) }),
  )
  const error = details.error ?? source.error ?? requirements.error
  if (error !== null) {
    const retry = () => void Promise.all([details.refetch(), source.refetch()])
    return (
      <Retry
        what={`Version ${version} of “${model}” cannot be edited`}
        message={readFailure(error).message}
        onRetry={retry}
      />
    )
  }
  if (details.data === undefined || source.data === undefined || requirements.isLoading)
    return <Skeleton className="h-96" />
  return <Editor {...props} details={details.data} source={source.data} listed={requirements.data ?? ''} />
}

interface EditorProps extends EditProps {
  readonly details: ModelDetails
  readonly source: string
  readonly listed: string
}

function Editor({ model, version, details, source, listed, onPublished, onCancel }: EditorProps) {
  const [code, setCode] = useState(source)
  const [requirements, setRequirements] = useState(listed)
  const name = useModelName(model)
  const editor = useRef<EditorHandle>(null)
  const { failed, publish, publishing } = usePublishOrStay(onPublished)
  const names = (side: 'inputs' | 'outputs') => details.metadata?.[side].map((row) => row.name) ?? []
  const beside = { model, basedOn: version }
  const check = usePythonCheck({ code, requirements, inputs: names('inputs'), outputs: names('outputs'), beside })
  const problems = useProblems(check.problems, failed, code)
  const changed = code !== source || requirements !== listed
  const why = !changed
    ? 'Nothing is changed.'
    : hasErrors(check.problems)
      ? 'The checks found errors; repair them first.'
      : null
  const save = ({ load }: { load: boolean }) =>
    publish({
      model,
      code,
      requirements,
      configText: details.configText ?? '',
      load,
      overwriteConfig: false,
      basedOn: version,
    })
  return (
    <div className="grid grid-cols-1 items-start gap-3 lg:grid-cols-[minmax(0,1.6fr)_minmax(0,1fr)]">
      <SourceCard
        code={code}
        onChange={setCode}
        marks={check.pending ? undefined : problems}
        onSave={() => why === null && save({ load: true })}
        handle={editor}
        edited={code !== source}
        origin={`as in version ${version}`}
        onReset={() => setCode(source)}
      />
      <div className="min-w-0 space-y-3">
        <About model={model} version={version} />
        <SourceChecks check={check} problems={problems} onGo={(problem) => editor.current?.goTo(problem.from)}>
          {failed !== null && <LoadFailure published={failed} />}
        </SourceChecks>
        <RequirementsCard value={requirements} onChange={setRequirements} />
        <PublishCard name={name} fixedConfig why={why} publishing={publishing} onSubmit={save} onCancel={onCancel}>
          {publishing.pending && <LoadProgress model={model} />}
        </PublishCard>
      </div>
    </div>
  )
}

function About({ model, version }: { model: string; version: string }) {
  return (
    <Card>
      <CardHead title={model} note={`from version ${version}`} />
      <p className="px-3 py-2 text-soft">
        The next version gets all other files of this one. Inputs, outputs and instances are in the{' '}
        <Link
          className="rounded text-accent underline underline-offset-2"
          href={`/models/${encodeURIComponent(model)}?tab=config`}
          prefetch={false}
        >
          config
        </Link>
        .
      </p>
    </Card>
  )
}
