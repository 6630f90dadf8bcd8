'use client'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useRef, useState } from 'react'
import { useTRPC, useTRPCClient } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import { runBulk, startBulk, type BulkRun, type BulkVerb } from './bulk.ts'

export interface Bulk {
  readonly run: BulkRun | null
  start(verb: BulkVerb, models: readonly string[]): void
  stop(): void
  close(): void
}

/** Runs one verb over many models and tells how far it is. */
export function useBulk(): Bulk {
  const client = useTRPCClient()
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const [run, setRun] = useState<BulkRun | null>(null)
  const stopper = useRef<AbortController>(undefined)

  const start = useCallback(
    (verb: BulkVerb, models: readonly string[]) => {
      const controller = new AbortController()
      stopper.current = controller
      const first = startBulk(verb, models)
      setRun(first)
      const work = (model: string) =>
        client.models[verb].mutate({ model }).then(
          () => null,
          (error: unknown) => readFailure(error).message,
        )
      void runBulk(first, { work, onChange: setRun, signal: controller.signal }).then(() =>
        queryClient.invalidateQueries({ queryKey: trpc.models.list.queryKey() }),
      )
    },
    [client, queryClient, trpc],
  )
  const stop = useCallback(() => stopper.current?.abort(), [])
  const close = useCallback(() => setRun(null), [])
  return { run, start, stop, close }
}
