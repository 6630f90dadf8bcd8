'use client'
import type { ConfigProblem, EffectiveValue } from '@conch/server/schemas'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { checkText, mergeProblems } from '../ui/pbtxt/local-check.ts'
import { useTRPCClient } from './client.ts'
import { useSettled } from './use-settled.ts'

export interface ConfigCheck {
  readonly problems: readonly ConfigProblem[]
  /** The values that would be in force; of the last text that the server has seen. */
  readonly effective: readonly EffectiveValue[]
  /** The server has not looked at this text yet. */
  readonly pending: boolean
}

interface Draft {
  readonly model: string
  readonly configText: string
  /** Staged files that the text belongs to. */
  readonly uploadId?: string | undefined
}

/** Checks a config as it is typed: here at once, and by the server, which also looks at the files. */
export function useConfigCheck({ model, configText, uploadId }: Draft): ConfigCheck {
  const client = useTRPCClient()
  const settled = useSettled(configText)
  const query = useQuery({
    queryKey: ['config-check', model, uploadId ?? '', settled],
    queryFn: ({ signal }) =>
      client.deploy.check.mutate(
        { model, configText: settled, ...(uploadId === undefined ? {} : { uploadId }) },
        { signal },
      ),
    staleTime: 60_000,
    gcTime: 60_000,
    placeholderData: keepPreviousData,
  })
  const local = useMemo(() => checkText(configText, model), [configText, model])
  const pending = settled !== configText || query.isPlaceholderData || query.isPending
  const remote = pending ? undefined : query.data?.problems
  // The server runs the same checks on the same text, and more: its word replaces the local one.
  const problems = useMemo(() => mergeProblems(remote ?? local), [remote, local])
  return { problems, effective: query.data?.effective ?? [], pending: pending && query.error === null }
}
