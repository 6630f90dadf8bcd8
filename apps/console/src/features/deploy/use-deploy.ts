'use client'
import type { Inspection } from '@conch/server/schemas'
import { useMutation } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useTRPC } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import { chooseFiles, type Picked } from './pick-files.ts'
import { UploadBatch, type Uploaded, type UploadProgress } from './upload-batch.ts'

export type DeployStage =
  | { readonly step: 'choose'; readonly refusal: string | null }
  | { readonly step: 'upload'; readonly files: readonly Picked[]; readonly progress: UploadProgress }
  | { readonly step: 'inspect'; readonly files: readonly Picked[] }
  | { readonly step: 'review'; readonly inspection: Inspection }

export interface Deploy {
  readonly stage: DeployStage
  pick(files: readonly Picked[]): void
  pause(): void
  resume(): void
  /** Back to the beginning; what was sent is thrown away. */
  startOver(): void
}

const BEGINNING: DeployStage = { step: 'choose', refusal: null }

/** From dropped files to a signature that can be looked at. */
export function useDeploy(): Deploy {
  const trpc = useTRPC()
  const [stage, setStage] = useState<DeployStage>(BEGINNING)
  const batch = useRef<UploadBatch>(undefined)
  const inspect = useMutation(trpc.deploy.inspect.mutationOptions())
  const discard = useMutation(trpc.deploy.discard.mutationOptions())
  useEffect(() => () => batch.current?.pause(), [])

  const { mutate } = inspect
  const look = useCallback(
    (single: boolean, uploaded: readonly Uploaded[]) => {
      const input = single ? { uploadId: uploaded[0]?.uploadId ?? '' } : { files: [...uploaded] }
      mutate(input, {
        onSuccess: (inspection) => setStage({ step: 'review', inspection }),
        onError: (error) => setStage({ step: 'choose', refusal: readFailure(error).message }),
      })
    },
    [mutate],
  )
  const pick = useCallback(
    (picked: readonly Picked[]) => {
      const choice = chooseFiles(picked)
      if (choice.kind === 'refused') return setStage({ step: 'choose', refusal: choice.reason })
      const { files, kind } = choice
      batch.current = new UploadBatch({
        files,
        onProgress: (progress) => setStage({ step: 'upload', files, progress }),
        onDone: (uploaded) => {
          setStage({ step: 'inspect', files })
          look(kind === 'single', uploaded)
        },
      })
      batch.current.start()
    },
    [look],
  )
  const startOver = () => {
    batch.current?.cancel()
    if (stage.step === 'review') discard.mutate({ uploadId: stage.inspection.id })
    setStage(BEGINNING)
  }
  return { stage, pick, pause: () => batch.current?.pause(), resume: () => batch.current?.resume(), startOver }
}
