import { expect, it } from 'vitest'
import { Pace } from './pace.ts'

/** Runs a model that takes `time(run)` µs on `bytes`; tells which runs were inline. */
function simulate(pace: Pace, runs: number, time: (run: number) => number, bytes = 128): boolean[] {
  return Array.from({ length: runs }, (_, run) => {
    const inline = pace.chooseInline(bytes)
    if (inline) pace.ranInline(time(run), bytes)
    else pace.ranElsewhere(time(run) + 20, bytes)
    return inline
  })
}

const count = (flags: readonly boolean[]) => flags.filter(Boolean).length

it('runs a fast model inline after two runs elsewhere', () => {
  expect(simulate(new Pace(true), 5, () => 5)).toEqual([false, false, true, true, true])
})

it('never runs a slow model inline', () => {
  expect(count(simulate(new Pace(true), 10_000, () => 500_000))).toBe(0)
})

it('gives a middling model ever fewer trials', () => {
  const flags = simulate(new Pace(true), 100_000, () => 500)
  expect(count(flags.slice(1_000))).toBeLessThan(50)
})

it('leaves at once when a run was slow, and comes back', () => {
  const pace = new Pace(true)
  simulate(pace, 100, () => 5)
  expect(simulate(pace, 4, (run) => (run === 0 ? 6_000 : 5))).toEqual([true, false, false, true])
})

it('forgives a busy machine', () => {
  const flags = simulate(new Pace(true), 100_000, (run) => (run % 500 === 499 ? 8_000 : 6))
  expect(count(flags) / flags.length).toBeGreaterThan(0.97)
})

it('stays away for long after the event loop stood still', () => {
  const flags = simulate(new Pace(true), 20_000, (run) => (run % 100 === 99 ? 300_000 : 6))
  expect(flags.filter((inline, run) => inline && run % 100 === 99).length).toBeLessThan(10)
})

it('does not take a large input for a small one', () => {
  const pace = new Pace(true)
  simulate(pace, 100, () => 5, 128)
  expect(pace.chooseInline(1_000_000)).toBe(false)
  simulate(pace, 1, () => 800, 1_000_000)
  expect(pace.chooseInline(128)).toBe(true)
})

it('never runs a model inline whose time its inputs do not bound', () => {
  expect(count(simulate(new Pace(false), 1_000, () => 5))).toBe(0)
})

it('learns nothing from failures but how slow they are', () => {
  const pace = new Pace(true)
  simulate(pace, 10, () => 5)
  pace.failedInline(1)
  expect(pace.chooseInline(128)).toBe(true)
  pace.failedInline(10_000)
  expect(pace.chooseInline(128)).toBe(false)
})
