import { expect, it } from 'vitest'
import { measureGrowth, soak } from './soak.ts'

const SECONDS = 20

it('answers 32 clients right while models are reloaded, unloaded and left', { timeout: 120_000 }, async () => {
  const { wrong, answered, refused, memory, exitCode, reloads, unloads } = await soak(SECONDS)
  expect(wrong).toEqual([])
  expect(exitCode).toBe(0)
  for (const model of ['direct', 'dynamic', 'sequence', 'ensemble', 'cached', 'limited']) {
    expect(answered[model]).toBeGreaterThan(100)
  }
  // The disturbance was one.
  expect(Math.min(reloads, unloads)).toBeGreaterThan(SECONDS / 4)
  expect(Object.values(refused).reduce((a, b) => a + b, 0)).toBeGreaterThan(0)
  expect(measureGrowth(memory)).toBeLessThan(64)
})

it('takes growth for what it is', () => {
  const seconds = Array.from({ length: 60 }, (_, second) => second)
  expect(measureGrowth(seconds.map((second) => 100 + 3 * second))).toBeGreaterThan(64)
  expect(Math.abs(measureGrowth(seconds.map((second) => 100 + 3 * Math.min(second, 10) + (second % 3))))).toBeLessThan(
    4,
  )
})
