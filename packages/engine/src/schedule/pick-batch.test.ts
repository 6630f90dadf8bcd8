import fc from 'fast-check'
import { expect, it } from 'vitest'
import { pickBatch } from './pick-batch.ts'
import type { BatchLimits, Candidate } from './pick-batch.ts'

const queue = (...rows: number[]): Candidate[] => rows.map((each) => ({ rows: each, arrivedAt: 0 }))
const limits = (change: Partial<BatchLimits<Candidate>>): BatchLimits<Candidate> => ({
  maxRows: 8,
  preferredRows: new Set([change.maxRows ?? 8]),
  maxDelay: 0,
  fits: undefined,
  ...change,
})

/** Sizes of the batches that a queue is cut into while the delay is always used up or absent. */
function cut(rows: readonly number[], rules: BatchLimits<Candidate>): number[] {
  let rest = queue(...rows)
  const batches: number[] = []
  while (rest.length > 0) {
    const decision = pickBatch(rest, rules, 0)
    if ('waitUntil' in decision) return [...batches, -1]
    batches.push(rest.slice(0, decision.take).reduce((sum, one) => sum + one.rows, 0))
    rest = rest.slice(decision.take)
  }
  return batches
}

const ones = (count: number): number[] => Array.from({ length: count }, () => 1)

// Measured on the original: reference, dynamic batching §3.
it.each<[string, number[], Partial<BatchLimits<Candidate>>, number[]]>([
  ['ten of one row', ones(10), {}, [8, 2]],
  ['three of three rows', [3, 3, 3], {}, [6, 3]],
  ['preferred 2 and 6, ten waiting', ones(10), { preferredRows: new Set([2, 6]) }, [6, 2, 2]],
  ['preferred 2 and 6, five waiting', ones(5), { preferredRows: new Set([2, 6]) }, [2, 2, 1]],
  ['preferred 4, ten waiting', ones(10), { preferredRows: new Set([4]) }, [4, 4, 2]],
  ['max 4, ten waiting', ones(10), { maxRows: 4, preferredRows: new Set([4]) }, [4, 4, 2]],
  ['no batching', ones(3), { maxRows: 1, preferredRows: new Set() }, [1, 1, 1]],
  ['delay, preferred 4, six waiting', ones(6), { preferredRows: new Set([4]), maxDelay: 800 }, [4, -1]],
  ['delay, preferred 4, three waiting', ones(3), { preferredRows: new Set([4]), maxDelay: 800 }, [-1]],
  ['delay, preferred 4, three and three rows', [3, 3], { preferredRows: new Set([4]), maxDelay: 800 }, [3, -1]],
  ['delay alone, nine waiting', ones(9), { maxDelay: 800 }, [8, -1]],
])('%s', (_name, rows, change, batches) => {
  expect(cut(rows, limits(change))).toEqual(batches)
})

it('cuts where the next request does not fit, without waiting for the delay', () => {
  const fits = (a: Candidate & { width?: number }, b: Candidate & { width?: number }) => a.width === b.width
  const widths = [4, 4, 8, 8].map((width) => ({ rows: 1, arrivedAt: 0, width }))
  expect(pickBatch(widths, limits({ maxDelay: 500, fits }), 0)).toEqual({ take: 2 })
  expect(pickBatch(widths.slice(2), limits({ maxDelay: 500, fits }), 0)).toEqual({ waitUntil: 500 })
  expect(pickBatch(widths.slice(2), limits({ maxDelay: 500, fits }), 500)).toEqual({ take: 2 })
})

it('never exceeds, never reorders, never starves', () => {
  const shape = fc.record({
    rows: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 40 }),
    preferred: fc.uniqueArray(fc.integer({ min: 1, max: 8 }), { maxLength: 4 }),
    maxDelay: fc.constantFrom(0, 10),
    now: fc.integer({ min: 0, max: 20 }),
  })
  fc.assert(
    fc.property(shape, ({ rows, preferred, maxDelay, now }) => {
      const rules = limits({ preferredRows: new Set(preferred), maxDelay })
      const decision = pickBatch(queue(...rows), rules, now)
      const take = 'take' in decision ? decision.take : 0
      const taken = rows.slice(0, take).reduce((sum, one) => sum + one, 0)
      expect(taken <= 8 || take === 1).toBe(true)
      // Waits only for a delay that is still running, and never past it.
      const waits = 'waitUntil' in decision
      expect(waits).toBe(take === 0)
      expect(!waits || (now < maxDelay && decision.waitUntil === maxDelay)).toBe(true)
    }),
  )
})
