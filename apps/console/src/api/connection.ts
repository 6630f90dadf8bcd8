'use client'
import { useSyncExternalStore } from 'react'

export type ConnectionState = 'idle' | 'connecting' | 'online' | 'lost'

export interface Connection {
  readonly state: ConnectionState
  /** When this state began, in milliseconds since the epoch. */
  readonly since: number
}

const listeners = new Set<() => void>()
let current: Connection = { state: 'idle', since: 0 }

/** Told by the WebSocket; everything on screen that shows whether the server is there reads this one place. */
export function reportConnection(state: ConnectionState): void {
  if (state === current.state) return
  // A failed retry does not make the loss any younger, nor does it end it.
  if (current.state === 'lost' && state === 'connecting') return
  current = { state, since: Date.now() }
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

const IDLE: Connection = { state: 'idle', since: 0 }

export function useConnection(): Connection {
  return useSyncExternalStore(
    subscribe,
    () => current,
    () => IDLE,
  )
}
