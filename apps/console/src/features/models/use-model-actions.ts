'use client'
import { useQueryClient } from '@tanstack/react-query'
import { useCallback } from 'react'
import { toast } from 'sonner'
import { useTRPC, useTRPCClient } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import type { BulkVerb } from './bulk.ts'

const WORDS: Readonly<Record<BulkVerb, { doing: string; done: string; undo: BulkVerb | null }>> = {
  load: { doing: 'Loading', done: 'is loaded', undo: 'unload' },
  unload: { doing: 'Unloading', done: 'is unloaded', undo: 'load' },
  reload: { doing: 'Reloading', done: 'is loaded anew', undo: null },
}

/** Loads, unloads or reloads one model: says so while it lasts, how it ended, and offers the way back. */
export function useModelActions(): (verb: BulkVerb, model: string) => void {
  const client = useTRPCClient()
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  return useCallback(
    (verb: BulkVerb, model: string) => {
      const act = async (each: BulkVerb): Promise<void> => {
        const words = WORDS[each]
        const id = toast.loading(`${words.doing} ${model}…`)
        try {
          await client.models[each].mutate({ model })
          const { undo } = words
          const action = undo === null ? undefined : { label: 'Undo', onClick: () => void act(undo) }
          toast.success(`${model} ${words.done}`, { id, duration: 6000, ...(action === undefined ? {} : { action }) })
        } catch (error) {
          const action = { label: 'Try again', onClick: () => void act(each) }
          toast.error(`${model} could not be ${each}ed`, {
            id,
            duration: 15_000,
            description: readFailure(error).message,
            action,
          })
        } finally {
          void queryClient.invalidateQueries({ queryKey: trpc.models.list.queryKey() })
          void queryClient.invalidateQueries({ queryKey: trpc.models.get.queryKey({ model }) })
        }
      }
      void act(verb)
    },
    [client, queryClient, trpc],
  )
}
