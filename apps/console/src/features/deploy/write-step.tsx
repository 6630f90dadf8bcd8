'use client'
import type { ConfigProblem, Published } from '@conch/server/schemas'
import { GitMerge } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import { toast } from 'sonner'
import { usePythonCheck } from '../../api/use-python-check.ts'
import { Button } from '../../ui/button.tsx'
import type { EditorHandle } from '../../ui/editor/code-editor.tsx'
import { Notice } from '../../ui/message.tsx'
import { hasErrors } from '../../ui/pbtxt/local-check.ts'
import { markFailure } from '../../ui/python/mark-failure.ts'
import { isNotLoaded } from './load-failure.ts'
import { LoadFailure, LoadProgress } from './load-progress.tsx'
import { PublishCard } from './publish-card.tsx'
import { PythonFormCard, RequirementsCard } from './python-form-card.tsx'
import { SourceCard, SourceChecks } from './source-card.tsx'
import { useModelName } from './use-model-name.ts'
import { usePublishPython } from './use-publish.ts'
import { usePythonModel, type PythonModel } from './use-python-model.ts'

interface WriteProps {
  readonly onPublished: (published: Published) => void
  readonly onCancel: () => void
}

/** A model in Python from a form and an editor. It stays open until a version of it is loaded. */
export function WriteStep({ onPublished, onCancel }: WriteProps) {
  const model = usePythonModel()
  const name = useModelName('my_python_model')
  const [requirements, setRequirements] = useState('')
  const editor = useRef<EditorHandle>(null)
  const { failed, publish, publishing } = usePublishOrStay(onPublished)
  const check = usePythonCheck({
    code: model.code,
    requirements,
    inputs: model.form.inputs.map((row) => row.name),
    outputs: model.form.outputs.map((row) => row.name),
  })
  const problems = useProblems(check.problems, failed, model.code)
  const why =
    model.problems.length > 0
      ? 'The form has mistakes; repair them first.'
      : hasErrors(check.problems)
        ? 'The checks found errors; repair them first.'
        : null
  const save = (choice: { load: boolean; overwriteConfig: boolean }) =>
    publish({ model: name.value, code: model.code, requirements, configText: model.configText, ...choice })
  const go = (problem: ConfigProblem) => editor.current?.goTo(problem.from)
  return (
    <div className="grid grid-cols-1 items-start gap-3 lg:grid-cols-[minmax(0,1fr)_minmax(0,1.4fr)]">
      <div className="min-w-0 space-y-3">
        <PythonFormCard name={name} model={model} />
        <RequirementsCard value={requirements} onChange={setRequirements} />
      </div>
      <div className="min-w-0 space-y-3">
        {model.outdated && <NewSignature model={model} />}
        <SourceCard
          code={model.code}
          onChange={model.setCode}
          marks={check.pending ? undefined : problems}
          onSave={() => why === null && name.error === undefined && save({ load: true, overwriteConfig: true })}
          handle={editor}
          edited={model.edited}
          origin="follows the form until you edit it"
          onReset={model.reset}
        />
        <SourceChecks check={check} problems={problems} onGo={go}>
          {failed !== null && <LoadFailure published={failed} />}
        </SourceChecks>
        <PublishCard name={name} changed why={why} publishing={publishing} onSubmit={save} onCancel={onCancel}>
          {publishing.pending && <LoadProgress model={name.value} />}
        </PublishCard>
      </div>
    </div>
  )
}

/** Goes on when the version serves; otherwise remembers why it does not, for the editor to show. */
export function usePublishOrStay(onPublished: (published: Published) => void) {
  const [failed, setFailed] = useState<Published | null>(null)
  const { publish, publishing } = usePublishPython((published) => {
    if (isNotLoaded(published)) setFailed(published)
    else onPublished(published)
  })
  return {
    failed,
    publishing,
    publish: (input: Parameters<typeof publish>[0]) => {
      if (publishing.pending) return
      setFailed(null)
      publish(input)
    },
  }
}

/** What the check says, and the line where loading failed while that line is still the same. */
export function useProblems(
  checked: readonly ConfigProblem[],
  failed: Published | null,
  code: string,
): readonly ConfigProblem[] {
  const [loaded, setLoaded] = useState({ failed, code })
  if (loaded.failed !== failed) setLoaded({ failed, code })
  return useMemo(() => {
    const failure = failed?.failure
    const mark = failure === undefined ? null : markFailure(failure, loaded.code)
    if (mark === null || code.slice(0, mark.to) !== loaded.code.slice(0, mark.to)) return checked
    return [mark, ...checked]
  }, [checked, failed, code, loaded])
}

function NewSignature({ model }: { model: PythonModel }) {
  const take = () => {
    const conflicts = model.takeSignature()
    if (conflicts === 0) return
    const places = conflicts === 1 ? 'one place' : `${conflicts} places`
    toast.info(`In ${places} your lines stay`, { description: 'The new ones stand below them as a comment.' })
  }
  return (
    <Notice
      title="The form has changed since you edited the source"
      action={
        <Button size="small" onClick={take}>
          <GitMerge aria-hidden /> Take the new signature
        </Button>
      }
    >
      Your own lines stay as they are.
    </Notice>
  )
}
