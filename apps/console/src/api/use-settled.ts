'use client'
import { useEffect, useState } from 'react'

/** The server is asked when typing pauses for this long. */
const PAUSE_MS = 350

/** A value that has not changed for a moment. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
