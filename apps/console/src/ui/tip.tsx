'use client'
import { cloneElement, useCallback, useEffect, useId, useRef, useState, type ReactElement, type ReactNode } from 'react'

interface TipProps {
  readonly text: ReactNode
  /** Must be able to take focus. */
  readonly children: ReactElement
}

const GAP_PX = 6
const EDGE_PX = 8
const DELAY_MS = 350

type Described = ReactElement<{ 'aria-describedby'?: string }>

/** A short text on hover or focus, above everything else on the page. Esc hides it. */
export function Tip({ text, children }: TipProps) {
  const id = useId()
  const anchor = useRef<HTMLSpanElement>(null)
  const bubble = useRef<HTMLSpanElement>(null)
  const [shown, setShown] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const show = useCallback((delay: number) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setShown(true), delay)
  }, [])
  const hide = useCallback(() => {
    clearTimeout(timer.current)
    setShown(false)
  }, [])
  useEffect(() => hide, [hide])
  useEffect(() => {
    const box = bubble.current
    if (!shown || anchor.current === null || box === null) return undefined
    placeBubble(anchor.current, box)
    const onKey = (event: KeyboardEvent) => event.key === 'Escape' && hide()
    window.addEventListener('keydown', onKey)
    return () => {
      window.removeEventListener('keydown', onKey)
      box.hidePopover()
    }
  }, [shown, hide])
  return (
    <span
      ref={anchor}
      className="inline-flex"
      onPointerEnter={() => show(DELAY_MS)}
      onPointerLeave={hide}
      onFocus={() => show(0)}
      onBlur={hide}
    >
      {cloneElement(children as Described, { 'aria-describedby': id })}
      <span
        ref={bubble}
        id={id}
        role="tooltip"
        popover="manual"
        className="m-0 max-w-80 rounded-md border border-line bg-raised px-2 py-1 text-left text-xs font-normal whitespace-normal text-ink shadow-float"
      >
        {text}
      </span>
    </span>
  )
}

/** Under the anchor, or above it where there is no room; never beyond the window's edge. */
function placeBubble(anchor: HTMLElement, bubble: HTMLElement): void {
  bubble.showPopover()
  const from = anchor.getBoundingClientRect()
  const { width, height } = bubble.getBoundingClientRect()
  const below = from.bottom + GAP_PX + height < window.innerHeight
  const left = Math.min(window.innerWidth - width - EDGE_PX, Math.max(EDGE_PX, from.left + from.width / 2 - width / 2))
  bubble.style.inset = 'auto'
  bubble.style.left = `${left}px`
  bubble.style.top = `${below ? from.bottom + GAP_PX : from.top - GAP_PX - height}px`
}
