import { operatorProcedure, router, viewerProcedure } from '../trpc.ts'
import { checkPolicy } from './check-policy.ts'
import { getRollout } from './get-rollout.ts'
import { rollBack } from './roll-back.ts'
import { checkRolloutSchema, getRolloutSchema, rollBackSchema, setRolloutSchema } from './rollout.schema.ts'
import { setPolicy } from './set-policy.ts'

export const rolloutRouter = router({
  get: viewerProcedure.input(getRolloutSchema).query(({ ctx, input }) => getRollout(ctx.services, input)),
  check: viewerProcedure.input(checkRolloutSchema).query(({ input }) => checkPolicy(input.text)),
  set: operatorProcedure.input(setRolloutSchema).mutation(({ ctx, input }) => setPolicy(ctx, input)),
  rollBack: operatorProcedure.input(rollBackSchema).mutation(({ ctx, input }) => rollBack(ctx, input)),
})
