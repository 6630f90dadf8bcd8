import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { PingRules } from './ping-rules.ts'
import type { PingPolicy } from './ping-rules.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

function makeRules(policy: Partial<PingPolicy> = {}) {
  const state = { calls: 1, pings: 0, lost: 0 }
  const rules = new PingRules(
    { time: Infinity, timeout: 100, withoutCalls: false, leastInterval: 1_000, strikes: 2, withoutData: 2, ...policy },
    { ping: () => (state.pings += 1), lost: () => (state.lost += 1), calls: () => state.calls },
  )
  return { rules, state }
}

it('tolerates as many early pings as strikes, and counts anew once something was sent', () => {
  const { rules } = makeRules()
  expect([1, 2, 3, 4].map(() => rules.accept())).toEqual([true, true, true, false])
  rules.work()
  expect([1, 2, 3, 4].map(() => rules.accept())).toEqual([true, true, true, false])
})

it('takes pings that come in their time, for ever', () => {
  const { rules } = makeRules({ strikes: 1 })
  for (let i = 0; i < 20; i += 1) {
    expect(rules.accept()).toBe(true)
    vi.advanceTimersByTime(1_000)
  }
})

it('wants two hours between pings without a call, unless they are permitted', () => {
  const strict = makeRules({ strikes: 1 })
  strict.state.calls = 0
  const answers = [1, 2, 3].map(() => {
    vi.advanceTimersByTime(2_000)
    return strict.rules.accept()
  })
  expect(answers).toEqual([true, true, false])
  const permitted = makeRules({ strikes: 1, withoutCalls: true })
  permitted.state.calls = 0
  for (let i = 0; i < 10; i += 1) {
    vi.advanceTimersByTime(2_000)
    expect(permitted.rules.accept()).toBe(true)
  }
})

it('never minds pings with 0 strikes', () => {
  const { rules } = makeRules({ strikes: 0 })
  expect(Array.from({ length: 50 }, () => rules.accept()).every(Boolean)).toBe(true)
})

it('asks a client that is quiet, and takes silence for its end', () => {
  const { rules, state } = makeRules({ time: 1_000 })
  vi.advanceTimersByTime(1_000)
  expect(state).toMatchObject({ pings: 1, lost: 0 })
  rules.answered()
  vi.advanceTimersByTime(1_050)
  expect(state).toMatchObject({ pings: 2, lost: 0 })
  vi.advanceTimersByTime(200)
  expect(state.lost).toBe(1)
})

it('asks nobody without a call unless told to, and only so often without data', () => {
  const idle = makeRules({ time: 1_000 })
  idle.state.calls = 0
  vi.advanceTimersByTime(10_000)
  expect(idle.state.pings).toBe(0)
  idle.rules.stop()
  const { rules, state } = makeRules({ time: 1_000, withoutCalls: true, withoutData: 2 })
  state.calls = 0
  for (let i = 0; i < 10; i += 1) {
    vi.advanceTimersByTime(1_050)
    rules.answered()
  }
  expect(state).toMatchObject({ pings: 2, lost: 0 })
  rules.work()
  for (let i = 0; i < 10; i += 1) {
    vi.advanceTimersByTime(1_050)
    rules.answered()
  }
  expect(state).toMatchObject({ pings: 4, lost: 0 })
})

it('asks as often as it takes with 0 pings without data', () => {
  const { rules, state } = makeRules({ time: 1_000, withoutData: 0 })
  for (let i = 0; i < 10; i += 1) {
    vi.advanceTimersByTime(1_050)
    rules.answered()
  }
  expect(state.pings).toBeGreaterThan(6)
})
