import type { Socket } from 'node:net'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { LIMITS } from './limits.ts'
import { Rest } from './rest.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function open(paused = false) {
  const state = { destroyed: false, paused }
  const socket = {
    destroy: () => (state.destroyed = true),
    isPaused: () => state.paused,
    get destroyed() {
      return state.destroyed
    },
  }
  return { state, rest: new Rest(socket as unknown as Socket) }
}

it('drops what comes, and ends with the body', () => {
  const { state, rest } = open()
  for (let i = 0; i < 100; i += 1) rest.data(Buffer.alloc(64 * 1024))
  rest.end()
  vi.advanceTimersByTime(10 * LIMITS.unreadTimeout)
  expect(state.destroyed).toBe(false)
  expect(vi.getTimerCount()).toBe(0)
})

it('ends the connection after too many pieces, too many bytes or too long a time', () => {
  const many = open()
  for (let i = 0; i <= LIMITS.chunks; i += 1) many.rest.data(Buffer.alloc(1))
  const large = open()
  const piece = Buffer.alloc(16 * 1024 * 1024)
  for (let bytes = 0; bytes <= LIMITS.unreadBytes; bytes += piece.length) large.rest.data(piece)
  const slow = open()
  vi.advanceTimersByTime(LIMITS.unreadTimeout)
  expect([many.state.destroyed, large.state.destroyed, slow.state.destroyed]).toEqual([true, true, true])
  expect(vi.getTimerCount()).toBe(0)
})

it('does not hold it against a client that it is us who do not read', () => {
  const { state } = open(true)
  vi.advanceTimersByTime(3 * LIMITS.unreadTimeout)
  expect(state.destroyed).toBe(false)
  state.paused = false
  vi.advanceTimersByTime(LIMITS.unreadTimeout)
  expect([state.destroyed, vi.getTimerCount()]).toEqual([true, 0])
})
