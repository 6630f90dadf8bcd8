'use client'
import type { InferResult } from '@conch/server/schemas'
import { useSyncExternalStore } from 'react'
import type { StreamAnswer } from './stream.ts'

/** One question and its answer. */
export interface Entry {
  readonly id: number
  readonly at: number
  readonly model: string
  readonly version: string
  readonly body: string
  readonly result: InferResult
  /** Milliseconds from sending to having it, as the browser saw them. */
  readonly clientMs: number
  /** Of a model that answers bit by bit. */
  readonly answers?: readonly StreamAnswer[]
  /** All answers that came, also those that are not kept. */
  readonly total?: number
  /** A person ended it. */
  readonly stopped?: boolean
}
interface History {
  readonly entries: readonly Entry[]
  /** The entry that answers are compared with. */
  readonly pinned: number | null
}

/** Entries kept; the pinned one stays whatever comes. */
const MOST = 30
const EMPTY: History = { entries: [], pinned: null }

let current: History = EMPTY
const listeners = new Set<() => void>()

function change(next: History): void {
  current = next
  for (const listener of listeners) listener()
}

/** Newest first. It lives as long as the page: nothing of it is stored. */
export function remember(entry: Omit<Entry, 'id'>): Entry {
  const full = { ...entry, id: (current.entries[0]?.id ?? 0) + 1 }
  const rest = current.entries.filter((each, index) => index < MOST - 1 || each.id === current.pinned)
  change({ ...current, entries: [full, ...rest] })
  return full
}

export function pin(id: number | null): void {
  change({ ...current, pinned: id })
}

export function useHistory(model: string): { entries: readonly Entry[]; pinned: Entry | null } {
  const history = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => current,
    () => EMPTY,
  )
  const entries = history.entries.filter((entry) => entry.model === model)
  return { entries, pinned: entries.find((entry) => entry.id === history.pinned) ?? null }
}
