'use client'
import type { Published } from '@conch/server/schemas'
import { useState } from 'react'
import { useModelLog } from '../../api/use-model-log.ts'
import { Notice } from '../../ui/message.tsx'
import { Traceback } from '../../ui/python/traceback.tsx'

const SHOWN = 4

/** The last things that a model said while it is being loaded: an environment can take minutes. */
export function LoadProgress({ model }: { model: string }) {
  const [began] = useState(() => Date.now())
  const lines = useModelLog(model).filter(({ at }) => at >= began)
  return (
    <div role="status" className="rounded-md bg-hover px-3 py-2 font-mono text-xs">
      {lines.length === 0
        ? 'Starting its process…'
        : lines.slice(-SHOWN).map((line) => (
            <p key={line.id} className="break-words whitespace-pre-wrap">
              {line.text}
            </p>
          ))}
    </div>
  )
}

export function LoadFailure({ published }: { published: Published }) {
  const { version, reason, failure, state } = published
  return (
    <Notice tone="bad" className="m-3" title={`Version ${version} is saved, but does not load`}>
      {failure === undefined ? reason : <Traceback failure={failure} />}
      {state === 'READY' && <p className="mt-1">The version before goes on serving.</p>}
    </Notice>
  )
}
