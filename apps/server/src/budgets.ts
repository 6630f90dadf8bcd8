import { BodyBudget } from './body-budget.ts'
import { InflateBudget } from './inflate-budget.ts'

/** What the requests of all connections may take together, over whichever port they come. */
export interface Budgets {
  readonly bodies: BodyBudget
  readonly inflating: InflateBudget
}

/** What all inflated bodies that are not answered yet may take together; further ones wait. */
export const INFLATED_BYTES = 256 * 1024 * 1024

export function createBudgets(limits: { readonly bodyMemory: number; readonly maxInputSize: number }): Budgets {
  return {
    bodies: new BodyBudget(limits.bodyMemory),
    inflating: new InflateBudget(Math.max(INFLATED_BYTES, limits.maxInputSize)),
  }
}
