'use client'
import type { ModelDetails } from '@conch/server/schemas'
import { useMutation } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useTRPCClient } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import { checkInputs, type InputProblem } from './check-draft.ts'
import { parseDraft, printDraft, type Draft, type DraftTensor } from './draft.ts'
import { remember, type Entry } from './history.ts'

/** The request is either what the form holds or what was typed as JSON; the other one follows. */
type Source = { readonly kind: 'form'; readonly draft: Draft } | { readonly kind: 'json'; readonly text: string }

export interface Playground {
  /** Null while the JSON cannot be shown as a form; then `broken` says why. */
  readonly draft: Draft | null
  readonly broken: string | null
  /** The body, as it is sent. */
  readonly text: string
  readonly problems: readonly InputProblem[]
  /** The first values, before anything was changed: they tell a helper the scale. */
  readonly example: Draft | null
  setInput(name: string, change: Partial<DraftTensor>): void
  setText(text: string): void
  send(): void
  cancel(): void
  readonly sending: boolean
  readonly answer: Entry | null
  show(entry: Entry): void
  /** Nothing came back: the request was refused before it reached the model, or the server is gone. */
  readonly failure: string | null
}

interface Setup {
  readonly model: ModelDetails
  readonly version: string
  readonly example: string
}

export function usePlayground({ model, version, example }: Setup): Playground {
  const [first] = useState(() => tryParse(example).draft)
  const [source, setSource] = useState<Source>(() =>
    first === null ? { kind: 'json', text: example } : { kind: 'form', draft: first },
  )
  const { draft, broken } = useMemo(
    () => (source.kind === 'form' ? { draft: source.draft, broken: null } : tryParse(source.text)),
    [source],
  )
  const text = useMemo(() => (source.kind === 'json' ? source.text : printDraft(source.draft)), [source])
  const problems = useMemo(
    () => (draft === null ? [] : checkInputs(draft.inputs, model.metadata?.inputs ?? [])),
    [draft, model.metadata],
  )
  const sender = useSender(model.name, version)
  const setInput = useCallback((name: string, change: Partial<DraftTensor>) => {
    setSource((now) => {
      const base = now.kind === 'form' ? now.draft : tryParse(now.text).draft
      if (base === null) return now
      return {
        kind: 'form',
        draft: { ...base, inputs: base.inputs.map((input) => (input.name === name ? { ...input, ...change } : input)) },
      }
    })
  }, [])
  return {
    draft,
    broken,
    text,
    problems,
    example: first,
    setInput,
    setText: (next) => setSource({ kind: 'json', text: next }),
    ...sender,
    send: () => sender.send(text),
    show: (entry) => {
      setSource({ kind: 'json', text: entry.body })
      sender.show(entry)
    },
  }
}

function tryParse(text: string): { draft: Draft | null; broken: string | null } {
  try {
    return { draft: parseDraft(text), broken: null }
  } catch (error) {
    return { draft: null, broken: error instanceof Error ? error.message : String(error) }
  }
}

function useSender(model: string, version: string) {
  const client = useTRPCClient()
  const [answer, setAnswer] = useState<Entry | null>(null)
  const stopper = useRef<AbortController>(undefined)
  const { mutate, isPending, error, reset } = useMutation({
    mutationFn: async (body: string) => {
      stopper.current = new AbortController()
      const began = performance.now()
      const input = { model, request: body, ...(version === '' ? {} : { version }) }
      const result = await client.playground.infer.mutate(input, { signal: stopper.current.signal })
      return remember({ at: Date.now(), model, version, body, result, clientMs: performance.now() - began })
    },
    onSuccess: setAnswer,
  })
  useEffect(() => () => stopper.current?.abort(), [])
  const cancelled = stopper.current?.signal.aborted === true
  return {
    answer,
    show: setAnswer,
    sending: isPending,
    failure:
      error === null ? null : cancelled ? 'Cancelled. The server stops working on it.' : readFailure(error).message,
    send: (body: string) => {
      if (!isPending) mutate(body)
    },
    cancel: () => {
      stopper.current?.abort()
      reset()
    },
  }
}
