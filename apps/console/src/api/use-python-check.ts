'use client'
import type { ConfigProblem } from '@conch/server/schemas'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useTRPCClient } from './client.ts'
import { useSettled } from './use-settled.ts'

export interface PythonDraft {
  readonly code: string
  readonly requirements: string
  /** Names of the config; empty = unknown. */
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
  /** The version whose other files will lie beside the source. */
  readonly beside?: { readonly model: string; readonly basedOn: string } | undefined
}
export interface PythonChecked {
  /** Of the last text that the server has seen. */
  readonly problems: readonly ConfigProblem[]
  /** Version of the server's Python, once it is known. */
  readonly python: string | null
  /** Why nothing can be said about the source. */
  readonly note: string | null
  /** The server has not looked at this text yet. */
  readonly pending: boolean
}

/** Has the server's Python look at a source while it is typed; nothing of it is run. */
export function usePythonCheck(draft: PythonDraft): PythonChecked {
  const client = useTRPCClient()
  const key = JSON.stringify(draft)
  const settled = useSettled(key)
  const query = useQuery({
    queryKey: ['python-check', settled],
    queryFn: ({ signal }) => {
      const { beside, ...asked } = JSON.parse(settled) as {
        code: string
        requirements: string
        inputs: string[]
        outputs: string[]
        beside?: { model: string; basedOn: string }
      }
      return client.deploy.checkPython.mutate({ ...asked, ...beside }, { signal })
    },
    staleTime: 60_000,
    gcTime: 60_000,
    placeholderData: keepPreviousData,
  })
  const pending = settled !== key || query.isPlaceholderData || query.isPending
  return {
    problems: query.data?.problems ?? [],
    python: query.data?.python ?? null,
    note: query.data?.note ?? null,
    pending: pending && query.error === null,
  }
}
