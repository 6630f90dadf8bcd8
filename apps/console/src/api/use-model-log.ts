'use client'
import type { LogLine } from '@conch/server/schemas'
import { useSubscription } from '@trpc/tanstack-react-query'
import { useState } from 'react'
import { useTRPC } from './client.ts'

/** Lines kept in the browser. */
const MOST = 500

/** What a model says, from some lines before now on. */
export function useModelLog(model: string): readonly LogLine[] {
  const trpc = useTRPC()
  const [lines, setLines] = useState<readonly LogLine[]>([])
  useSubscription(
    trpc.log.model.subscriptionOptions(
      { model },
      {
        onData: ({ data }) =>
          setLines((known) => {
            const last = known.at(-1)
            // After a reconnect the server may say a line again.
            if (last !== undefined && data.id <= last.id && data.at <= last.at) return known
            return [...known.slice(-(MOST - 1)), data]
          }),
      },
    ),
  )
  return lines
}
