'use client'
import { useRouter } from 'next/navigation'
import { useEffect, useRef } from 'react'
import { makeKeyReader, type KeyCommand } from './keys.ts'
import { PLACES } from './places.ts'

interface KeyActions {
  readonly onPalette: () => void
  readonly onShortcuts: () => void
}

const LETTERS = Object.fromEntries(PLACES.map((place) => [place.letter, place.href]))

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false
  const box = target instanceof HTMLInputElement && target.type === 'checkbox'
  return !box && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
}

function focusSearch(): void {
  document.querySelector<HTMLInputElement>('[data-page-search]')?.focus()
}

/** Keys that work on every screen. */
export function useKeys(actions: KeyActions): void {
  const router = useRouter()
  const latest = useRef(actions)
  useEffect(() => {
    latest.current = actions
  })
  useEffect(() => {
    const read = makeKeyReader(LETTERS)
    const run = (command: KeyCommand) => {
      if (command === 'palette') latest.current.onPalette()
      else if (command === 'shortcuts') latest.current.onShortcuts()
      else if (command === 'search') focusSearch()
      else router.push(command.go)
    }
    const onKey = (event: KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey } = event
      const command = read({ key, ctrlKey, metaKey, altKey, typing: isTyping(event.target), at: event.timeStamp })
      if (command === undefined) return
      event.preventDefault()
      run(command)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [router])
}
