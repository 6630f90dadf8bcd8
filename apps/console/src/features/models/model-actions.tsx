'use client'
import type { ModelDetails } from '@conch/server/schemas'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Ellipsis, FlaskConical, Play, RotateCw, Square, Trash2, UploadCloud } from 'lucide-react'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { toast } from 'sonner'
import { useTRPC } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import { useRefusal, useSession } from '../../api/session.tsx'
import { Action } from '../../ui/action.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Confirm } from '../../ui/lazy-dialog.tsx'
import { Menu, MenuItem, MenuRule } from '../../ui/menu.tsx'
import { refuseByMode } from './control-mode.ts'
import { useModelActions } from './use-model-actions.ts'

export function ModelActions({ model }: { model: ModelDetails }) {
  const act = useModelActions()
  const { server } = useSession()
  const role = useRefusal('operator')
  const why = role ?? refuseByMode(server.controlMode)
  const ready = model.state === 'READY'
  const path = encodeURIComponent(model.name)
  return (
    <>
      {ready ? (
        <Action why={why} onClick={() => act('reload', model.name)}>
          <RotateCw aria-hidden /> Reload
        </Action>
      ) : (
        <Action tone="primary" why={why} onClick={() => act('load', model.name)}>
          <Play aria-hidden /> Load
        </Action>
      )}
      {ready && (
        <ButtonLink tone="primary" href={`/playground/${path}`} prefetch={false}>
          <FlaskConical aria-hidden /> Playground
        </ButtonLink>
      )}
      <MoreMenu model={model} onUnload={() => act('unload', model.name)} why={why} />
    </>
  )
}

function MoreMenu({ model, onUnload, why }: { model: ModelDetails; onUnload: () => void; why: string | null }) {
  const [asking, setAsking] = useState(false)
  const editor = useRefusal('editor')
  const readOnly = model.writable ? null : 'Its repository is read-only.'
  return (
    <>
      <Menu
        trigger={
          <Button tone="plain" size="icon" aria-label="More actions">
            <Ellipsis />
          </Button>
        }
      >
        <MenuItem asChild>
          <Link href={`/deploy?model=${encodeURIComponent(model.name)}`}>
            <UploadCloud aria-hidden /> Upload a new version
          </Link>
        </MenuItem>
        {model.state === 'READY' && (
          <MenuItem why={why} onSelect={onUnload}>
            <Square aria-hidden /> Unload
          </MenuItem>
        )}
        <MenuRule />
        <MenuItem danger why={editor ?? readOnly} onSelect={() => setAsking(true)}>
          <Trash2 aria-hidden /> Remove the model…
        </MenuItem>
      </Menu>
      <RemoveModel name={model.name} open={asking} onOpenChange={setAsking} />
    </>
  )
}

function RemoveModel({
  name,
  open,
  onOpenChange,
}: {
  name: string
  open: boolean
  onOpenChange: (open: boolean) => void
}) {
  const trpc = useTRPC()
  const router = useRouter()
  const queryClient = useQueryClient()
  const remove = useMutation(
    trpc.models.removeModel.mutationOptions({
      onSuccess: () => {
        toast.success(`${name} is removed`, { description: 'Its folder lies in the trash of the data directory.' })
        void queryClient.invalidateQueries({ queryKey: trpc.models.list.queryKey() })
        router.push('/models')
      },
      onError: (error) => toast.error(`${name} could not be removed`, { description: readFailure(error).message }),
    }),
  )
  return (
    <Confirm
      open={open}
      onOpenChange={onOpenChange}
      title={`Remove ${name}?`}
      action="Remove"
      danger
      busy={remove.isPending}
      onConfirm={() => remove.mutate({ model: name })}
    >
      It is unloaded, and its folder with all versions moves to the trash in the server’s data directory. Clients that
      ask it get an error from then on.
    </Confirm>
  )
}
