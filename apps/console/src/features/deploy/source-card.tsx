'use client'
import type { ConfigProblem } from '@conch/server/schemas'
import { RotateCcw } from 'lucide-react'
import type { ReactNode, RefObject } from 'react'
import type { PythonChecked } from '../../api/use-python-check.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Card, CardHead } from '../../ui/card.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import type { EditorHandle } from '../../ui/editor/code-editor.tsx'
import { Notice } from '../../ui/message.tsx'
import { ProblemList } from '../../ui/pbtxt/problem-list.tsx'
import { LazyPythonEditor } from '../../ui/python/lazy-editor.tsx'

interface SourceProps {
  readonly code: string
  readonly onChange: (code: string) => void
  /** Marks; undefined while they are being looked for. */
  readonly marks: readonly ConfigProblem[] | undefined
  readonly onSave: () => void
  readonly handle: RefObject<EditorHandle | null>
  readonly edited: boolean
  /** Where the source comes from as long as it is not edited. */
  readonly origin: string
  /** Throws the edits away. */
  readonly onReset: () => void
}

export function SourceCard({ code, onChange, marks, onSave, handle, edited, origin, onReset }: SourceProps) {
  return (
    <Card className="flex h-[36rem] max-h-[75vh] min-h-80 flex-col overflow-hidden has-[.cm-focused]:border-accent has-[.cm-focused]:ring-1 has-[.cm-focused]:ring-accent">
      <CardHead title="model.py" note={edited ? undefined : origin}>
        {edited && (
          <>
            <Badge tone="accent">edited</Badge>
            <Button size="small" tone="quiet" onClick={onReset}>
              <RotateCcw aria-hidden /> Start over
            </Button>
          </>
        )}
        <CopyButton text={code} label="Copy the source" />
      </CardHead>
      <div className="min-h-0 flex-1">
        <LazyPythonEditor
          value={code}
          onChange={onChange}
          problems={marks}
          label="model.py"
          onSave={onSave}
          handle={handle}
        />
      </div>
    </Card>
  )
}

interface ChecksProps {
  readonly check: PythonChecked
  readonly problems: readonly ConfigProblem[]
  readonly onGo: (problem: ConfigProblem) => void
  readonly children?: ReactNode
}

/** What the server's Python says of the source. */
export function SourceChecks({ check, problems, onGo, children }: ChecksProps) {
  const { pending, python, note } = check
  return (
    <Card>
      <CardHead title="Checks" note={pending ? 'checking…' : python === null ? undefined : `by Python ${python}`} />
      {children}
      {note !== null ? (
        <Notice tone="warn" className="m-3" title="The source was not checked">
          {note}
        </Notice>
      ) : pending && problems.length === 0 ? (
        <p className="px-3 py-2 text-mute" role="status">
          Python is reading the source…
        </p>
      ) : (
        <ProblemList problems={problems} fine="The source can be compiled" onGo={onGo} />
      )}
    </Card>
  )
}
