'use client'
import { LIVE_SECONDS, type LiveFrame } from '@conch/server/schemas'
import { useQuery } from '@tanstack/react-query'
import { useSubscription } from '@trpc/tanstack-react-query'
import { useEffect, useState } from 'react'
import { useTRPC } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import { mergeFrames } from './frames.ts'

export interface Frames {
  readonly frames: readonly LiveFrame[]
  /** The history was read, so that nothing on the left edge is still to come. */
  readonly ready: boolean
  readonly failure: string | null
}

/** The server's memory first, then what comes once a second. After a break the stream resends what was missed. */
export function useFrames(): Frames {
  const trpc = useTRPC()
  const [frames, setFrames] = useState<readonly LiveFrame[]>([])
  const history = useQuery(
    trpc.live.history.queryOptions({ seconds: LIVE_SECONDS }, { staleTime: Infinity, gcTime: 0 }),
  )
  const past = history.data
  useEffect(() => {
    if (past !== undefined) setFrames((known) => mergeFrames(known, past, LIVE_SECONDS))
  }, [past])
  useSubscription(
    trpc.live.samples.subscriptionOptions(undefined, {
      onData: ({ data }) => setFrames((known) => mergeFrames(known, [data], LIVE_SECONDS)),
    }),
  )
  return {
    frames,
    ready: past !== undefined,
    failure: history.error === null ? null : readFailure(history.error).message,
  }
}
