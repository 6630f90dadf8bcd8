'use client'
import type { ModelDetails } from '@conch/server/schemas'
import { Send, Square, X } from 'lucide-react'
import { parseAsString, useQueryState } from 'nuqs'
import { useEffect, useRef } from 'react'
import { toast } from 'sonner'
import { useTRPCClient } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import { useRefusal } from '../../api/session.tsx'
import { Action } from '../../ui/action.tsx'
import { Button } from '../../ui/button.tsx'
import { Kbd } from '../../ui/card.tsx'
import { Select } from '../../ui/field.tsx'
import type { Playground } from './use-playground.ts'

interface ActionsProps {
  readonly model: ModelDetails
  readonly version: string
  readonly playground: Playground
}

export function PlaygroundActions({ model, version, playground }: ActionsProps) {
  const why = useRefusal('operator')
  useSendKey(playground, why === null)
  return (
    <>
      <SamplePicker model={model} onText={playground.setText} />
      <VersionPicker model={model} version={version} />
      {playground.sending ? (
        <Button onClick={playground.cancel}>
          {playground.arriving === null ? <X aria-hidden /> : <Square aria-hidden />}
          {playground.arriving === null ? 'Cancel' : 'Stop'}
        </Button>
      ) : (
        <Action tone="primary" why={why} onClick={playground.send}>
          <Send aria-hidden /> Send{' '}
          <span className="ml-1 hidden gap-0.5 md:flex [&_kbd]:border-white/30 [&_kbd]:bg-transparent [&_kbd]:text-white">
            <Kbd>Ctrl</Kbd>
            <Kbd>Enter</Kbd>
          </span>
        </Action>
      )}
    </>
  )
}

function useSendKey(playground: Playground, allowed: boolean): void {
  const latest = useRef(playground)
  useEffect(() => {
    latest.current = playground
  })
  useEffect(() => {
    if (!allowed) return undefined
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      latest.current.send()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [allowed])
}

/** Requests that lie with the model. */
function SamplePicker({ model, onText }: { model: ModelDetails; onText: (text: string) => void }) {
  const client = useTRPCClient()
  const samples = model.samples.filter((sample) => sample.path.endsWith('.json'))
  if (samples.length === 0) return null
  const pick = async (path: string) => {
    try {
      onText(await client.models.file.query({ model: model.name, path }))
    } catch (error) {
      toast.error('The sample could not be read', { description: readFailure(error).message })
    }
  }
  return (
    <Select aria-label="Sample" className="max-w-44" value="" onChange={(event) => void pick(event.target.value)}>
      <option value="" disabled>
        Samples…
      </option>
      {samples.map((sample) => (
        <option key={sample.path} value={sample.path}>
          {sample.name}
        </option>
      ))}
    </Select>
  )
}

function VersionPicker({ model, version }: { model: ModelDetails; version: string }) {
  const [, setVersion] = useQueryState('version', parseAsString)
  const ready = model.versions.filter((row) => row.state === 'READY')
  if (ready.length < 2 && version === '') return null
  return (
    <Select aria-label="Version" value={version} onChange={(event) => void setVersion(event.target.value || null)}>
      <option value="">Newest version</option>
      {ready.map((row) => (
        <option key={row.version} value={row.version}>
          Version {row.version}
        </option>
      ))}
    </Select>
  )
}
