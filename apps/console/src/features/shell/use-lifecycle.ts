'use client'
import { useQueryClient } from '@tanstack/react-query'
import { useSubscription } from '@trpc/tanstack-react-query'
import { useEffect, useRef } from 'react'
import { useTRPC } from '../../api/client.ts'
import { reportConnection } from '../../api/connection.ts'

/** A model that loads sends several events in a row; one refresh serves them all. */
const SETTLE_MS = 150

/** Follows the server's lifecycle events, so that every screen shows a model's state as it changes. */
export function useLifecycle(): void {
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useSubscription(
    trpc.models.events.subscriptionOptions(undefined, {
      onData: ({ data: event }) => {
        clearTimeout(timer.current)
        timer.current = setTimeout(() => {
          void queryClient.invalidateQueries({ queryKey: trpc.models.list.queryKey() })
          void queryClient.invalidateQueries({ queryKey: trpc.models.get.queryKey({ model: event.model }) })
        }, SETTLE_MS)
      },
    }),
  )
  useEffect(() => {
    reportConnection('connecting')
    return () => {
      clearTimeout(timer.current)
      reportConnection('idle')
    }
  }, [])
}
