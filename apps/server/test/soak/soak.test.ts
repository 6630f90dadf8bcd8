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
