import { expect, it } from 'vitest'
import { BodyBudget } from './body-budget.ts'

it('gives what there is and no more, and all of it again', () => {
  const budget = new BodyBudget(100)
  expect([budget.take(60), budget.take(41), budget.take(40), budget.used]).toEqual([true, false, true, 100])
  budget.giveBack(60)
  expect([budget.take(61), budget.take(60)]).toEqual([false, true])
})
