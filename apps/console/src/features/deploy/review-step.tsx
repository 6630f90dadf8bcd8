'use client'
import { applyEdits } from '@conch/protocol'
import type { ConfigProblem, Inspection, Published } from '@conch/server/schemas'
import { useMemo, useRef, useState } from 'react'
import { useConfigCheck } from '../../api/use-config-check.ts'
import { Card, CardHead } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { LazyEditor } from '../../ui/pbtxt/lazy-editor.tsx'
import { hasErrors } from '../../ui/pbtxt/local-check.ts'
import type { EditorHandle } from '../../ui/editor/code-editor.tsx'
import { ProblemList } from '../../ui/pbtxt/problem-list.tsx'
import { FileList } from './file-list.tsx'
import { listProblems } from './list-problems.ts'
import { NameField, PublishCard } from './publish-card.tsx'
import { SignatureCard } from './signature-card.tsx'
import { useModelName } from './use-model-name.ts'
import { usePublishUpload } from './use-publish.ts'

interface ReviewProps {
  readonly inspection: Inspection
  readonly onPublished: (published: Published) => void
  readonly onCancel: () => void
}

/** What was uploaded, what it says of itself, and what will be served: all before anything reaches the repository. */
export function ReviewStep({ inspection, onPublished, onCancel }: ReviewProps) {
  const [text, setText] = useState(inspection.proposedConfig)
  const name = useModelName(inspection.suggestedName)
  const check = useConfigCheck({ model: name.value, configText: text, uploadId: inspection.id })
  const editor = useRef<EditorHandle>(null)
  const { publish, publishing } = usePublishUpload(onPublished)
  const problems = useMemo(() => listProblems(inspection, check.problems), [inspection, check.problems])
  const fix = (problem: ConfigProblem) => problem.fix && setText(applyEdits(text, problem.fix.edits))
  return (
    <div className="grid grid-cols-1 items-start gap-3 lg:grid-cols-2">
      <div className="min-w-0 space-y-3">
        <SignatureCard inspection={inspection} />
        <Card>
          <CardHead title="Checks" note={check.pending ? 'checking…' : undefined} />
          <ProblemList
            problems={problems}
            fine="Everything fits: the model can be served"
            onGo={(problem) => editor.current?.goTo(problem.from)}
            onFix={fix}
          />
        </Card>
        <FileList files={inspection.files} />
      </div>
      <div className="min-w-0 space-y-3 lg:sticky lg:top-3">
        <Card className="flex h-[24rem] flex-col overflow-hidden has-[.cm-focused]:border-accent has-[.cm-focused]:ring-1 has-[.cm-focused]:ring-accent">
          <CardHead title="config.pbtxt" note="yours to change">
            <CopyButton text={text} label="Copy the config" />
          </CardHead>
          <div className="min-h-0 flex-1">
            <LazyEditor
              value={text}
              onChange={setText}
              problems={problems}
              label="Proposed config.pbtxt"
              handle={editor}
            />
          </div>
        </Card>
        <PublishCard
          name={name}
          changed={text !== inspection.proposedConfig}
          why={hasErrors(problems) ? 'The checks found errors; repair them first.' : null}
          publishing={publishing}
          onSubmit={(choice) =>
            publish({ uploadId: inspection.id, model: name.value, version: 'next', configText: text, ...choice })
          }
          onCancel={onCancel}
        >
          <NameField name={name} />
        </PublishCard>
      </div>
    </div>
  )
}
