import fc from 'fast-check'
import { expect, it } from 'vitest'
import { pickByKey, Splitter } from './split.ts'
import type { Weighted } from './split.ts'

/** Weights in hundredths of a percent that sum up to 10 000. */
const splits: fc.Arbitrary<readonly Weighted[]> = fc
  .array(fc.integer({ min: 0, max: 1_000 }), { minLength: 1, maxLength: 6 })
  .filter((parts) => parts.some((part) => part > 0))
  .map((parts) => {
    const sum = parts.reduce((a, b) => a + b, 0)
    const weights = parts.map((part) => Math.floor((part * 10_000) / sum))
    const largest = weights.indexOf(Math.max(...weights))
    const rest = 10_000 - weights.reduce((a, b) => a + b, 0)
    return weights.map((weight, i) => ({ version: String(i + 1), weight: i === largest ? weight + rest : weight }))
  })

function count(picks: readonly (string | undefined)[]): ReadonlyMap<string | undefined, number> {
  const counts = new Map<string | undefined, number>()
  for (const pick of picks) counts.set(pick, (counts.get(pick) ?? 0) + 1)
  return counts
}

it('gives each version exactly its weight of every 10 000 requests', () => {
  fc.assert(
    fc.property(splits, fc.nat(10_000), (arms, before) => {
      const splitter = new Splitter()
      for (let i = 0; i < before; i++) splitter.pick(arms)
      const counts = count(Array.from({ length: 10_000 }, () => splitter.pick(arms)))
      for (const { version, weight } of arms) expect(counts.get(version) ?? 0).toBe(weight)
    }),
    { numRuns: 60 },
  )
})

it('is never further from its weights than there are versions', () => {
  fc.assert(
    fc.property(splits, fc.integer({ min: 1, max: 500 }), (arms, length) => {
      const splitter = new Splitter()
      const counts = count(Array.from({ length }, () => splitter.pick(arms)))
      for (const { version, weight } of arms) {
        expect(Math.abs((counts.get(version) ?? 0) - (length * weight) / 10_000)).toBeLessThan(arms.length)
      }
    }),
    { numRuns: 500 },
  )
})

it('spreads: at 90 to 10 no two canaries come within eight requests', () => {
  const splitter = new Splitter()
  const arms = [
    { version: '1', weight: 9_000 },
    { version: '2', weight: 1_000 },
  ]
  const picks = Array.from({ length: 1_000 }, () => splitter.pick(arms))
  const at = picks.flatMap((pick, i) => (pick === '2' ? [i] : []))
  expect(at.slice(1).map((i, n) => i - (at[n] ?? 0))).toEqual(Array.from({ length: 99 }, () => 10))
})

it('picks nobody when nobody has a weight', () => {
  expect(new Splitter().pick([{ version: '1', weight: 0 }])).toBeUndefined()
  expect(pickByKey([], 'x')).toBeUndefined()
})

it('sends a key to one version, and keys in proportion', () => {
  const arms = [
    { version: '1', weight: 9_000 },
    { version: '2', weight: 1_000 },
  ]
  const keys = Array.from({ length: 20_000 }, (_, i) => `user-${i}`)
  const counts = count(keys.map((key) => pickByKey(arms, key)))
  expect((counts.get('2') ?? 0) / keys.length).toBeGreaterThan(0.09)
  expect((counts.get('2') ?? 0) / keys.length).toBeLessThan(0.11)
})

it('moves no key between versions that both grow or stay', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10_000 }), fc.integer({ min: 0, max: 10_000 }), fc.string(), (a, b, key) => {
      const [small, large] = a < b ? [a, b] : [b, a]
      const arms = (canary: number) => [
        { version: '1', weight: 10_000 - canary },
        { version: '2', weight: canary },
      ]
      // Whoever is in the small canary is in the large one.
      const before = pickByKey(arms(small), key)
      expect(before === '1' || pickByKey(arms(large), key) === '2').toBe(true)
    }),
    { numRuns: 2_000 },
  )
})
