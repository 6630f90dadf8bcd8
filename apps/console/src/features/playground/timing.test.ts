import { expect, it } from 'vitest'
import { splitTiming } from './timing.ts'

it('accounts for all of the time and never for less than nothing', () => {
  const timing = { queueUs: 10, inputUs: 5, inferUs: 100, outputUs: 5, totalUs: 150 }
  const parts = splitTiming(timing, 1)
  expect(parts.reduce((sum, part) => sum + part.us, 0)).toBe(1000)
  expect(parts.find((part) => part.label === 'Server, other')?.us).toBe(30)
  expect(splitTiming(timing, 0).every((part) => part.us >= 0)).toBe(true)
})
