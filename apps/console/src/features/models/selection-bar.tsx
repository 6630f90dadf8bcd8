'use client'
import { Play, RotateCw, Square, X } from 'lucide-react'
import { useState } from 'react'
import { useRefusal, useSession } from '../../api/session.tsx'
import { Action } from '../../ui/action.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/lazy-dialog.tsx'
import type { BulkVerb } from './bulk.ts'
import { refuseByMode } from './control-mode.ts'

interface SelectionBarProps {
  readonly models: readonly string[]
  readonly onStart: (verb: BulkVerb, models: readonly string[]) => void
  readonly onClear: () => void
}

/** What can be done with the chosen rows; there only while some are. */
export function SelectionBar({ models, onStart, onClear }: SelectionBarProps) {
  const { server } = useSession()
  const role = useRefusal('operator')
  const [asking, setAsking] = useState(false)
  const why = role ?? refuseByMode(server.controlMode)
  if (models.length === 0) return null
  const start = (verb: BulkVerb) => {
    setAsking(false)
    onStart(verb, models)
    onClear()
  }
  return (
    <div
      className="flex shrink-0 flex-wrap items-center gap-2 border-t bg-raised px-3 py-2"
      role="toolbar"
      aria-label="Chosen models"
    >
      <span className="font-medium tabular-nums">{models.length} chosen</span>
      <Action size="small" why={why} onClick={() => start('load')}>
        <Play aria-hidden /> Load
      </Action>
      <Action size="small" why={why} onClick={() => start('reload')}>
        <RotateCw aria-hidden /> Reload
      </Action>
      <Action size="small" why={why} onClick={() => setAsking(true)}>
        <Square aria-hidden /> Unload
      </Action>
      <Button size="tiny" tone="quiet" className="ml-auto" aria-label="Choose none" onClick={onClear}>
        <X />
      </Button>
      <Confirm
        open={asking}
        onOpenChange={setAsking}
        title={models.length === 1 ? `Unload ${models[0]}?` : `Unload ${models.length} models?`}
        action="Unload"
        onConfirm={() => start('unload')}
      >
        Requests in flight finish first; new ones are refused until the models are loaded again.
      </Confirm>
    </div>
  )
}
