'use client'
import { Rocket, Save } from 'lucide-react'
import { useState, type FormEvent, type ReactNode } from 'react'
import { Action } from '../../ui/action.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardHead } from '../../ui/card.tsx'
import { Check, Field, Input } from '../../ui/field.tsx'
import { Notice } from '../../ui/message.tsx'
import type { ModelName } from './use-model-name.ts'
import type { Publishing } from './use-publish.ts'

export interface PublishChoice {
  readonly load: boolean
  readonly overwriteConfig: boolean
}
interface PublishProps {
  readonly name: ModelName
  /** A person changed the proposed config. */
  readonly changed?: boolean
  /** The model keeps its config: there is nothing to choose. */
  readonly fixedConfig?: boolean
  /** Why it cannot be published now. */
  readonly why: string | null
  readonly publishing: Publishing
  readonly onSubmit: (choice: PublishChoice) => void
  readonly onCancel: () => void
  readonly children?: ReactNode
}

export function PublishCard(props: PublishProps) {
  const { name, changed = false, fixedConfig = false, why, publishing, onSubmit, onCancel, children } = props
  const [load, setLoad] = useState(true)
  const [overwrite, setOverwrite] = useState<boolean | null>(null)
  // A config that somebody just wrote is meant to count.
  const overwriteConfig = name.existing === undefined || (overwrite ?? changed)
  const refusal = name.error === undefined ? why : 'The name cannot be used.'
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (refusal === null && !publishing.pending) onSubmit({ load, overwriteConfig })
  }
  return (
    <Card>
      <CardHead title="Save as a new version" />
      <form className="space-y-3 p-3" onSubmit={submit}>
        {children}
        {name.existing !== undefined && !fixedConfig && (
          <Check
            label="Replace the model’s config.pbtxt by the one above"
            hint="Otherwise the present one goes on to apply"
            checked={overwriteConfig}
            onChange={(event) => setOverwrite(event.target.checked)}
          />
        )}
        <Check
          label="Load it right away"
          hint="If that fails, what serves now goes on serving"
          checked={load}
          onChange={(event) => setLoad(event.target.checked)}
        />
        {publishing.failure !== null && (
          <Notice tone="bad" title="Not deployed">
            {publishing.failure}
          </Notice>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onCancel}>Throw away</Button>
          <Action type="submit" tone="primary" why={refusal} disabled={publishing.pending}>
            {load ? <Rocket aria-hidden /> : <Save aria-hidden />}
            {(load ? LABELS.load : LABELS.save)[publishing.pending ? 1 : 0]}
          </Action>
        </div>
      </form>
    </Card>
  )
}

/** Before and while it happens. */
const LABELS = { load: ['Save and load', 'Saving and loading…'], save: ['Save', 'Saving…'] } as const

export function NameField({ name }: { name: ModelName }) {
  return (
    <Field label="Model" error={name.error} hint={describeTarget(name)}>
      {(control) => (
        <Input
          {...control}
          className="font-mono"
          spellCheck={false}
          value={name.value}
          onChange={(event) => name.set(event.target.value)}
        />
      )}
    </Field>
  )
}

function describeTarget({ existing }: ModelName): string {
  if (existing === undefined) return 'A new model, beginning with version 1'
  const newest = Math.max(0, ...existing.versions.map((row) => Number(row.version)))
  return newest === 0 ? 'Exists; this becomes its next version' : `Exists; this becomes version ${newest + 1}`
}
