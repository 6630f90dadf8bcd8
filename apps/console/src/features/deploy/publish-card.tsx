'use client'
import type { Published } from '@conch/server/schemas'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Rocket, Save } from 'lucide-react'
import { useState, type FormEvent } from 'react'
import { useTRPC } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import { Action } from '../../ui/action.tsx'
import { Button } from '../../ui/button.tsx'
import { Card, CardHead } from '../../ui/card.tsx'
import { Check, Field, Input } from '../../ui/field.tsx'
import { Notice } from '../../ui/message.tsx'
import type { ModelName } from './use-model-name.ts'

interface PublishProps {
  readonly uploadId: string
  readonly name: ModelName
  readonly configText: string
  /** A person changed the proposed config. */
  readonly changed: boolean
  readonly broken: boolean
  readonly onPublished: (published: Published) => void
  readonly onCancel: () => void
}

export function PublishCard({ uploadId, name, configText, changed, broken, onPublished, onCancel }: PublishProps) {
  const [load, setLoad] = useState(true)
  const [overwrite, setOverwrite] = useState<boolean | null>(null)
  const publish = usePublish(onPublished)
  // A config that somebody just wrote is meant to count.
  const overwriteConfig = name.existing === undefined || (overwrite ?? changed)
  const why = explainRefusal(name, broken)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (why !== null) return
    publish.mutate({ uploadId, model: name.value, version: 'next', configText, load, overwriteConfig })
  }
  return (
    <Card>
      <CardHead title="Save as a new version" />
      <form className="space-y-3 p-3" onSubmit={submit}>
        <NameField name={name} />
        {name.existing !== undefined && (
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
        {publish.error !== null && (
          <Notice tone="bad" title="Not deployed">
            {readFailure(publish.error).message}
          </Notice>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onCancel}>Throw away</Button>
          <Action type="submit" tone="primary" why={why} disabled={publish.isPending}>
            {load ? <Rocket aria-hidden /> : <Save aria-hidden />}
            {publish.isPending ? 'Saving…' : load ? 'Save and load' : 'Save'}
          </Action>
        </div>
      </form>
    </Card>
  )
}

function usePublish(onPublished: (published: Published) => void) {
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  return useMutation(
    trpc.deploy.publish.mutationOptions({
      onSuccess: (published) => {
        void queryClient.invalidateQueries({ queryKey: trpc.models.pathKey() })
        onPublished(published)
      },
    }),
  )
}

function explainRefusal(name: ModelName, broken: boolean): string | null {
  if (name.error !== undefined) return 'The name cannot be used.'
  return broken ? 'The checks found errors; repair them first.' : null
}

function NameField({ name }: { name: ModelName }) {
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
