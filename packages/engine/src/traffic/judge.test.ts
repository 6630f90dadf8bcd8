import { parseTrafficPolicy } from '@conch/protocol'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { judgeArm, judgeShadow } from './judge.ts'
import { RollingWindow } from './window.ts'

function rulesOf(limits: object) {
  const { rollback } = parseTrafficPolicy({
    split: { 1: 90, 2: 10 },
    shadow: { version: 2 },
    rollback: { window_seconds: 10, min_requests: 20, ...limits },
  })
  if (rollback === undefined) throw new Error('no rules')
  return rollback
}
const fill = (window: RollingWindow, parts: { good?: number; bad?: number; ms?: number }, now: number) => {
  for (let i = 0; i < (parts.good ?? 0); i++) window.add(parts.ms ?? 1, now)
  for (let i = 0; i < (parts.bad ?? 0); i++) window.add(undefined, now)
}

it('decides nothing on too few requests', () => {
  const window = new RollingWindow(10_000)
  fill(window, { bad: 19 }, 0)
  expect(judgeArm(window, rulesOf({ error_percent: 5 }), 0)).toBeUndefined()
  fill(window, { bad: 1 }, 0)
  expect(judgeArm(window, rulesOf({ error_percent: 5 }), 0)).toBe(
    '20 of 20 requests failed in the last 10 s: 100 %, the limit is 5 %',
  )
})

it('lets a limit be reached, not passed', () => {
  const window = new RollingWindow(10_000)
  fill(window, { good: 95, bad: 5 }, 0)
  expect(judgeArm(window, rulesOf({ error_percent: 5 }), 0)).toBeUndefined()
  fill(window, { bad: 1 }, 0)
  expect(judgeArm(window, rulesOf({ error_percent: 5 }), 0)).toMatch(/^6 of 101 requests failed/)
})

it('forgets what is older than the window', () => {
  const window = new RollingWindow(10_000)
  fill(window, { bad: 100 }, 500)
  fill(window, { good: 20 }, 11_000)
  expect(judgeArm(window, rulesOf({ error_percent: 5 }), 11_000)).toBeUndefined()
  expect(window.read(11_000)).toEqual({ requests: 20, failures: 0 })
})

it('sees slow requests, and says how many', () => {
  const rules = rulesOf({ latency_ms: 100, latency_percentile: 90 })
  const window = new RollingWindow(10_000)
  fill(window, { good: 90, ms: 20 }, 0)
  fill(window, { good: 10, ms: 300 }, 0)
  expect(judgeArm(window, rules, 0)).toBeUndefined()
  fill(window, { good: 2, ms: 300 }, 0)
  expect(judgeArm(window, rules, 0)).toMatch(/^12 of 102 requests took longer than 100 ms in the last 10 s: 11.76 %/)
})

it('tells shadow answers from requests', () => {
  const window = new RollingWindow(10_000)
  fill(window, { good: 20, bad: 3 }, 0)
  expect(judgeShadow(window, rulesOf({ mismatch_percent: 10 }), 0)).toBe(
    '3 of 23 shadow answers differed in the last 10 s: 13.04 %, the limit is 10 %',
  )
  expect(judgeShadow(window, rulesOf({ error_percent: 1 }), 0)).toBeUndefined()
})

it('counts what lies within the window, whatever the times', () => {
  const steps = fc.array(fc.tuple(fc.nat(3_000), fc.boolean()), { maxLength: 60 })
  fc.assert(
    fc.property(steps, (requests) => {
      const window = new RollingWindow(10_000)
      let now = 0
      const seen: { at: number; failed: boolean }[] = []
      for (const [gap, failed] of requests) {
        now += gap
        window.add(failed ? undefined : 1, now)
        seen.push({ at: now, failed })
        // Old ones leave in tenths of the window.
        const first = (Math.floor(now / 1_000) - 9) * 1_000
        const recent = seen.filter(({ at }) => at >= first)
        const failures = recent.filter((one) => one.failed).length
        expect(window.read(now)).toEqual({ requests: recent.length, failures })
      }
    }),
    { numRuns: 1_000 },
  )
})

it('never calls fast what is slow by more than a fifth, nor slow what is fast', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.01, max: 50_000, noNaN: true }),
      fc.double({ min: 0.01, max: 50_000, noNaN: true }),
      (ms, limit) => {
        const window = new RollingWindow(1_000)
        window.add(ms, 0)
        const { slow } = window.countSlow(limit, 0)
        const right = ms <= limit ? [0] : ms > limit * 1.22 ? [1] : [0, 1]
        expect(right).toContain(slow)
      },
    ),
    { numRuns: 2_000 },
  )
})
