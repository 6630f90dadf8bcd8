'use client'
import type { ModelRow } from '@conch/server/schemas'
import { Ellipsis, FlaskConical, Play, RotateCw, Square } from 'lucide-react'
import Link from 'next/link'
import { useRefusal, useSession } from '../../api/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Menu, MenuItem, MenuRule } from '../../ui/menu.tsx'
import { refuseByMode } from './control-mode.ts'
import { useModelActions } from './use-model-actions.ts'

export function RowMenu({ row }: { row: ModelRow }) {
  return (
    <Menu
      trigger={
        <Button tone="quiet" size="tiny" aria-label={`Actions for ${row.name}`} className="max-md:size-9">
          <Ellipsis />
        </Button>
      }
    >
      <RowItems row={row} />
    </Menu>
  )
}

function RowItems({ row }: { row: ModelRow }) {
  const act = useModelActions()
  const { server } = useSession()
  const role = useRefusal('operator')
  const why = role ?? refuseByMode(server.controlMode)
  const ready = row.state === 'READY'
  return (
    <>
      <MenuItem asChild disabled={!ready}>
        <Link href={`/playground/${encodeURIComponent(row.name)}`} prefetch={false}>
          <FlaskConical aria-hidden /> Try in the playground
        </Link>
      </MenuItem>
      <MenuRule />
      {ready ? (
        <>
          <MenuItem why={why} onSelect={() => act('reload', row.name)}>
            <RotateCw aria-hidden /> Reload
          </MenuItem>
          <MenuItem why={why} onSelect={() => act('unload', row.name)}>
            <Square aria-hidden /> Unload
          </MenuItem>
        </>
      ) : (
        <MenuItem why={why} onSelect={() => act('load', row.name)}>
          <Play aria-hidden /> Load
        </MenuItem>
      )}
    </>
  )
}
