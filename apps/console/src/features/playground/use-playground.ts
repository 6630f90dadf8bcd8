'use client'
import type { ModelDetails, TensorRow } from '@conch/server/schemas'
import { useCallback, useMemo, useState } from 'react'
import { checkInputs, type InputProblem } from './check-draft.ts'
import { parseDraft, printDraft, type Draft, type DraftTensor } from './draft.ts'
import type { Entry } from './history.ts'
import { listOptional } from './model-facts.ts'
import { useSender, type Sender } from './use-sender.ts'

/** The request is either what the form holds or what was typed as JSON; the other one follows. */
type Source = { readonly kind: 'form'; readonly draft: Draft } | { readonly kind: 'json'; readonly text: string }

export interface Playground extends Omit<Sender, 'send' | 'show'> {
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
  show(entry: Entry): void
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
    () => (draft === null ? [] : checkInputs(draft.inputs, listExpected(model, draft))),
    [draft, model],
  )
  const sender = useSender(model, version)
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

/** Optional inputs are expected only when they are there. */
function listExpected({ metadata, config }: ModelDetails, { inputs }: Draft): readonly TensorRow[] {
  const optional = listOptional(config)
  const given = inputs.map(({ name }) => name)
  return (metadata?.inputs ?? []).filter(({ name }) => given.includes(name) || !optional.includes(name))
}

function tryParse(text: string): { draft: Draft | null; broken: string | null } {
  try {
    return { draft: parseDraft(text), broken: null }
  } catch (error) {
    return { draft: null, broken: error instanceof Error ? error.message : String(error) }
  }
}
