import { expect, it } from 'vitest'
import { BackOff } from './back-off.ts'

it('waits longer after each life that was of no use, up to half a minute', () => {
  const backOff = new BackOff()
  const delays = Array.from({ length: 10 }, () => {
    backOff.ended(100, false)
    return backOff.delay
  })
  expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000, 30_000])
})

it('starts at once after a long life, or after one that answered', () => {
  const backOff = new BackOff()
  for (let i = 0; i < 5; i++) backOff.ended(2_000, true)
  expect(backOff.delay).toBe(0)
  backOff.ended(100, false)
  backOff.failed()
  expect(backOff.delay).toBe(1_000)
  backOff.ended(3_000, true)
  expect(backOff.delay).toBe(1_000)
  backOff.ended(60_000, false)
  expect(backOff.delay).toBe(0)
})
