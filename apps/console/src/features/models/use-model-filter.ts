'use client'
import { parseAsBoolean, parseAsString, parseAsStringLiteral, useQueryStates } from 'nuqs'
import { useCallback, useMemo } from 'react'
import { SORT_KEYS, STATE_FILTERS, type ModelFilter } from './model-filter.ts'

const PARSERS = {
  q: parseAsString.withDefault(''),
  state: parseAsStringLiteral(STATE_FILTERS).withDefault('all'),
  backend: parseAsString.withDefault(''),
  sort: parseAsStringLiteral(SORT_KEYS).withDefault('name'),
  desc: parseAsBoolean.withDefault(false),
}

/** The filter lives in the address, so that a view can be shared and comes back with the page. */
export function useModelFilter() {
  const [state, setState] = useQueryStates(PARSERS, { history: 'replace', throttleMs: 120 })
  const { q, state: group, backend, sort, desc } = state
  const filter = useMemo<ModelFilter>(
    () => ({ text: q, state: group, backend, sort, descending: desc }),
    [q, group, backend, sort, desc],
  )
  const setFilter = useCallback(
    (change: Partial<ModelFilter>) => {
      const { text, descending, ...rest } = change
      void setState({
        ...rest,
        ...(text === undefined ? {} : { q: text }),
        ...(descending === undefined ? {} : { desc: descending }),
      })
    },
    [setState],
  )
  const clear = useCallback(() => void setState(null), [setState])
  return { filter, setFilter, clear }
}
