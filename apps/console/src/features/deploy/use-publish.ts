'use client'
import type { Published } from '@conch/server/schemas'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTRPC } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'

/** A publication on its way. */
export interface Publishing {
  readonly pending: boolean
  /** Why nothing was published. */
  readonly failure: string | null
}

/** Publishes staged files. */
export function usePublishUpload(onPublished: (published: Published) => void) {
  const trpc = useTRPC()
  const onSuccess = useTellModels(onPublished)
  const { mutate, isPending, error } = useMutation(trpc.deploy.publish.mutationOptions({ onSuccess }))
  return { publish: mutate, publishing: describe(isPending, error) }
}

/** Publishes a model that was written here. */
export function usePublishPython(onPublished: (published: Published) => void) {
  const trpc = useTRPC()
  const onSuccess = useTellModels(onPublished)
  const { mutate, isPending, error } = useMutation(trpc.deploy.publishPython.mutationOptions({ onSuccess }))
  return { publish: mutate, publishing: describe(isPending, error) }
}

/** What other screens know of the models is old now. */
function useTellModels(onPublished: (published: Published) => void) {
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  return (published: Published) => {
    void queryClient.invalidateQueries({ queryKey: trpc.models.pathKey() })
    onPublished(published)
  }
}

function describe(pending: boolean, error: unknown): Publishing {
  return { pending, failure: error === null ? null : readFailure(error).message }
}
