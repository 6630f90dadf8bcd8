'use client'
import { newModelNameSchema, type ModelRow } from '@conch/server/schemas'
import { useQuery } from '@tanstack/react-query'
import { parseAsString, useQueryState } from 'nuqs'
import { useState } from 'react'
import { useTRPC } from '../../api/client.ts'

export interface ModelName {
  readonly value: string
  set(value: string): void
  readonly error: string | undefined
  /** The model that has this name already; the upload becomes its next version. */
  readonly existing: ModelRow | undefined
}

/** The name under which an upload is to be served: from the address, else the one that was suggested. */
export function useModelName(suggested: string): ModelName {
  const trpc = useTRPC()
  const [wanted] = useQueryState('model', parseAsString)
  const [value, set] = useState(wanted ?? suggested)
  const { data = [] } = useQuery(trpc.models.list.queryOptions())
  const result = newModelNameSchema.safeParse(value)
  return {
    value,
    set,
    error: result.success ? undefined : (result.error.issues[0]?.message ?? 'Not a name'),
    existing: data.find((row) => row.name === value),
  }
}
