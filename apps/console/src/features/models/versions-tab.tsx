'use client'
import type { ModelDetails, VersionRow } from '@conch/server/schemas'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { FlaskConical, Trash2, UploadCloud } from 'lucide-react'
import { useState } from 'react'
import { toast } from 'sonner'
import { useTRPC } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import { useRefusal } from '../../api/session.tsx'
import { Action } from '../../ui/action.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import { Card, CardHead } from '../../ui/card.tsx'
import { Confirm } from '../../ui/lazy-dialog.tsx'
import { formatBytes } from '../../ui/format.ts'
import { StateMark } from '../../ui/state.tsx'
import { When } from '../../ui/when.tsx'
import { sortVersions } from './versions.ts'

export function VersionsTab({ model }: { model: ModelDetails }) {
  const [doomed, setDoomed] = useState<string | null>(null)
  const rows = sortVersions(model.versions)
  return (
    <Card className="overflow-x-auto">
      <CardHead title="Versions" note="newest first">
        <ButtonLink size="small" href={`/deploy?model=${encodeURIComponent(model.name)}`}>
          <UploadCloud aria-hidden /> Upload a new one
        </ButtonLink>
      </CardHead>
      <ul className="divide-y">
        {rows.map((row) => (
          <VersionLine
            key={row.version}
            model={model}
            row={row}
            only={rows.length === 1}
            onDelete={() => setDoomed(row.version)}
          />
        ))}
      </ul>
      {rows.length === 0 && <p className="px-3 py-6 text-center text-mute">There is no version folder yet.</p>}
      <DeleteVersion model={model.name} version={doomed} onClose={() => setDoomed(null)} />
    </Card>
  )
}

interface LineProps {
  readonly model: ModelDetails
  readonly row: VersionRow
  readonly only: boolean
  readonly onDelete: () => void
}

function VersionLine({ model, row, only, onDelete }: LineProps) {
  const editor = useRefusal('editor')
  const readOnly = model.writable ? null : 'Its repository is read-only.'
  const why = editor ?? readOnly ?? (only ? 'It is the only version; remove the model instead.' : null)
  const files = model.files.filter((file) => file.path.startsWith(`${row.version}/`))
  const newest = Math.max(0, ...files.map((file) => file.modified))
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 px-3 py-2">
      <span className="w-12 text-[15px] font-semibold tabular-nums">{row.version}</span>
      <StateMark state={row.state} reason={row.reason} className="w-28" />
      <span className="min-w-0 flex-1 basis-40 break-words text-soft">
        {row.reason === 'unloaded' ? '' : row.reason}
        {row.reason === '' && files.length > 0 && (
          <>
            {formatBytes(files.reduce((sum, file) => sum + file.size, 0))} · <When at={newest} />
          </>
        )}
      </span>
      {row.state === 'READY' && (
        <ButtonLink
          size="small"
          prefetch={false}
          href={`/playground/${encodeURIComponent(model.name)}?version=${row.version}`}
        >
          <FlaskConical aria-hidden /> Try
        </ButtonLink>
      )}
      <Action size="small" tone="quiet" why={why} aria-label={`Delete version ${row.version}`} onClick={onDelete}>
        <Trash2 aria-hidden />
      </Action>
    </li>
  )
}

function DeleteVersion({ model, version, onClose }: { model: string; version: string | null; onClose: () => void }) {
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const remove = useMutation(
    trpc.models.deleteVersion.mutationOptions({
      onSuccess: () => toast.success(`Version ${version ?? ''} of ${model} is deleted`),
      onError: (error) => toast.error('The version could not be deleted', { description: readFailure(error).message }),
      onSettled: () => {
        onClose()
        void queryClient.invalidateQueries({ queryKey: trpc.models.pathKey() })
      },
    }),
  )
  return (
    <Confirm
      open={version !== null}
      onOpenChange={onClose}
      title={`Delete version ${version ?? ''} of ${model}?`}
      action="Delete"
      danger
      busy={remove.isPending}
      onConfirm={() => version !== null && remove.mutate({ model, version })}
    >
      Its files move to the trash in the server’s data directory. The other versions go on serving.
    </Confirm>
  )
}
