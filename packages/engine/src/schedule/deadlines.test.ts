import fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Deadlines } from './deadlines.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

function plan(deadlines: Deadlines, at: number, fired: number[]) {
  const deadline = { at, cancelled: false, expire: () => void fired.push(at) }
  deadlines.add(deadline)
  return deadline
}

it('fires in order of time with one timer, whatever the order of arrival', () => {
  const deadlines = new Deadlines()
  const fired: number[] = []
  const now = performance.now()
  for (const after of [30, 10, 20]) plan(deadlines, now + after, fired)
  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(10)
  expect(fired).toEqual([now + 10])
  vi.advanceTimersByTime(20)
  expect(fired).toEqual([now + 10, now + 20, now + 30])
  expect(vi.getTimerCount()).toBe(0)
})

it('leaves no timer when everything was cancelled', () => {
  const deadlines = new Deadlines()
  const fired: number[] = []
  const planned = Array.from({ length: 200 }, (_, i) => plan(deadlines, performance.now() + i, fired))
  for (const deadline of planned) deadlines.cancel(deadline)
  expect([deadlines.size, vi.getTimerCount()]).toEqual([0, 0])
  vi.advanceTimersByTime(1_000)
  expect(fired).toEqual([])
})

it('waits for times beyond the longest timer', () => {
  const deadlines = new Deadlines()
  const fired: number[] = []
  plan(deadlines, performance.now() + 2 ** 31 + 5_000, fired)
  vi.advanceTimersByTime(2 ** 31)
  expect(fired).toEqual([])
  vi.advanceTimersByTime(5_000)
  expect(fired).toHaveLength(1)
})

it('fires exactly what was not cancelled, in order', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 500 }), fc.boolean())), (times) => {
      const deadlines = new Deadlines()
      const fired: number[] = []
      const now = performance.now()
      const planned = times.map(([after, cancels]) => ({ deadline: plan(deadlines, now + after, fired), cancels }))
      for (const { deadline, cancels } of planned) if (cancels) deadlines.cancel(deadline)
      vi.advanceTimersByTime(501)
      const expected = times.filter(([, cancels]) => !cancels).map(([after]) => now + after)
      expect(fired).toEqual(expected.toSorted((a, b) => a - b))
      expect(vi.getTimerCount()).toBe(0)
    }),
  )
})
