'use client'
import type { ConfigProblem, ModelDetails } from '@conch/server/schemas'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { toast } from 'sonner'
import { useTRPC } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'

export interface ConfigDraft {
  readonly text: string
  setText(text: string): void
  readonly changed: boolean
  readonly saving: boolean
  /** The file on disk is no longer the one that this draft began from. */
  readonly conflict: boolean
  /** Why the last save is not in force. */
  readonly failure: string | null
  /** What the server complained about at the last save, for this very text. */
  readonly problems: readonly ConfigProblem[]
  save(): void
  reset(): void
  takeTheirs(): void
}

interface Base {
  readonly text: string
  readonly hash: string
}

/** A config being edited: what it began from, what it is now, and how saving it went. */
export function useConfigDraft(model: ModelDetails): ConfigDraft {
  const theirs: Base = { text: model.configText ?? '', hash: model.configHash }
  const [base, setBase] = useState<Base>(theirs)
  const [edited, setEdited] = useState<string | null>(null)
  const save = useSave(model.name, (hash, text) => {
    setBase({ text, hash })
    setEdited((now) => (now === text ? null : now))
  })
  // Without changes of one's own, the file's news are simply shown.
  const moved = theirs.hash !== base.hash && !save.isPending
  if (moved && edited === null) setBase(theirs)
  const text = edited ?? base.text
  return {
    text,
    setText: (next) => setEdited(next === base.text ? null : next),
    changed: edited !== null,
    saving: save.isPending,
    conflict: moved && edited !== null,
    ...explainSave(save, text),
    save: () => save.mutate({ model: model.name, configText: text, expectedHash: theirs.hash }),
    reset: () => setEdited(null),
    takeTheirs: () => {
      setBase(theirs)
      setEdited(null)
    },
  }
}

/** A complaint is about one text: it goes when that is changed. */
function explainSave(save: ReturnType<typeof useSave>, text: string): Pick<ConfigDraft, 'failure' | 'problems'> {
  if (save.error === null || save.variables.configText !== text) return { failure: null, problems: [] }
  const { message, problems } = readFailure(save.error)
  return { failure: message, problems }
}

function useSave(model: string, onSaved: (hash: string, text: string) => void) {
  const trpc = useTRPC()
  const queryClient = useQueryClient()
  return useMutation(
    trpc.config.save.mutationOptions({
      onSuccess: async (saved, { configText }) => {
        await queryClient.invalidateQueries({ queryKey: trpc.models.get.queryKey({ model }) })
        onSaved(saved.hash, configText)
        if (saved.state === 'READY') toast.success('Saved and loaded')
        else toast.warning('Saved, but not ready', { description: saved.reason })
      },
      onError: () => void queryClient.invalidateQueries({ queryKey: trpc.models.get.queryKey({ model }) }),
    }),
  )
}
