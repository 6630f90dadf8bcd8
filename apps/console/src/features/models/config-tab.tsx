'use client'
import { applyEdits } from '@conch/protocol'
import type { ConfigProblem, ModelDetails } from '@conch/server/schemas'
import { RotateCcw, Save } from 'lucide-react'
import { useEffect, useMemo, useRef } from 'react'
import { useRefusal } from '../../api/session.tsx'
import { useConfigCheck } from '../../api/use-config-check.ts'
import { Action } from '../../ui/action.tsx'
import { Button } from '../../ui/button.tsx'
import { Badge, Card, CardHead } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Notice } from '../../ui/message.tsx'
import { LazyEditor } from '../../ui/pbtxt/lazy-editor.tsx'
import { hasErrors, mergeProblems } from '../../ui/pbtxt/local-check.ts'
import type { EditorHandle } from '../../ui/editor/code-editor.tsx'
import { ProblemList } from '../../ui/pbtxt/problem-list.tsx'
import { useConfigDraft, type ConfigDraft } from './use-config-draft.ts'

export function ConfigTab({ model }: { model: ModelDetails }) {
  const draft = useConfigDraft(model)
  const check = useConfigCheck({ model: model.name, configText: draft.text })
  const editor = useRef<EditorHandle>(null)
  const refusal = useRefusal('editor')
  const readOnly = refusal !== null || !model.writable
  const problems = useMemo(() => mergeProblems(draft.problems, check.problems), [draft.problems, check.problems])
  useWarnBeforeLeaving(draft.changed)
  const fix = (problem: ConfigProblem) => problem.fix && draft.setText(applyEdits(draft.text, problem.fix.edits))
  return (
    <div className="grid grid-cols-1 items-start gap-3 xl:grid-cols-[minmax(0,1.6fr)_minmax(0,1fr)]">
      <Card className="flex h-[34rem] max-h-[70vh] min-h-80 flex-col overflow-hidden has-[.cm-focused]:border-accent has-[.cm-focused]:ring-1 has-[.cm-focused]:ring-accent">
        <CardHead
          title="config.pbtxt"
          note={model.configText === null ? 'not there yet: everything is read from the model' : undefined}
        >
          <SaveButtons
            draft={draft}
            why={refusal ?? (model.writable ? null : 'Its repository is read-only.')}
            broken={hasErrors(check.problems)}
          />
          <CopyButton text={draft.text} label="Copy the config" />
        </CardHead>
        <div className="min-h-0 flex-1">
          <LazyEditor
            value={draft.text}
            onChange={draft.setText}
            problems={problems}
            readOnly={readOnly}
            label={`config.pbtxt of ${model.name}`}
            onSave={draft.save}
            handle={editor}
          />
        </div>
      </Card>
      <div className="space-y-3">
        <DraftNotices draft={draft} />
        <Card>
          <CardHead title="Checks" note={check.pending ? 'checking…' : undefined} />
          <ProblemList
            problems={problems}
            fine="Nothing to complain about"
            onGo={(problem) => editor.current?.goTo(problem.from)}
            {...(readOnly ? {} : { onFix: fix })}
          />
        </Card>
      </div>
    </div>
  )
}

function SaveButtons({ draft, why, broken }: { draft: ConfigDraft; why: string | null; broken: boolean }) {
  const reason =
    why ?? (!draft.changed ? 'Nothing is changed.' : broken ? 'The checks found errors; repair them first.' : null)
  return (
    <>
      {draft.changed && <Badge tone="warn">changed</Badge>}
      {draft.changed && (
        <Button size="small" onClick={draft.reset}>
          <RotateCcw aria-hidden /> Undo all
        </Button>
      )}
      <Action size="small" tone="primary" why={reason} disabled={draft.saving} onClick={draft.save}>
        <Save aria-hidden /> {draft.saving ? 'Saving…' : 'Save and load'}
      </Action>
    </>
  )
}

function DraftNotices({ draft }: { draft: ConfigDraft }) {
  return (
    <>
      {draft.conflict && (
        <Notice
          tone="warn"
          title="Somebody changed this config meanwhile"
          action={
            <Button size="small" onClick={draft.takeTheirs}>
              Take theirs
            </Button>
          }
        >
          Saving writes yours over it.
        </Notice>
      )}
      {draft.failure !== null && (
        <Notice tone="bad" title="Not in force: what served before goes on serving">
          {draft.failure}
        </Notice>
      )}
    </>
  )
}

function useWarnBeforeLeaving(changed: boolean): void {
  useEffect(() => {
    if (!changed) return undefined
    const warn = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', warn)
    return () => window.removeEventListener('beforeunload', warn)
  }, [changed])
}
