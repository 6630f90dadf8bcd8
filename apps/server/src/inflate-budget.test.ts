import fc from 'fast-check'
import { expect, it } from 'vitest'
import { InflateBudget } from './inflate-budget.ts'

it('lets requests wait for each other, first come first served', async () => {
  const budget = new InflateBudget(100)
  const started: string[] = []
  const take = (name: string, bytes: number) => budget.take(bytes).then(() => started.push(name))
  const [a, b, c, d] = [take('a', 60), take('b', 60), take('c', 10), take('d', 30)]
  await a
  expect([started, budget.waiting]).toEqual([['a'], 3])
  budget.giveBack(60)
  await Promise.all([b, c, d])
  expect(started).toEqual(['a', 'b', 'c', 'd'])
})

it('never grants more than there is, and grants everything in the end', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 40 }), async (sizes) => {
      const budget = new InflateBudget(100)
      let used = 0
      let most = 0
      const run = async (bytes: number) => {
        await budget.take(bytes)
        used += bytes
        most = Math.max(most, used)
        await Promise.resolve()
        used -= bytes
        budget.giveBack(bytes)
      }
      await Promise.all(sizes.map(run))
      expect(most).toBeLessThanOrEqual(100)
      expect([used, budget.waiting]).toEqual([0, 0])
    }),
  )
})
