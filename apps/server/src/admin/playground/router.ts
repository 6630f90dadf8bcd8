import { operatorProcedure, router, viewerProcedure } from '../trpc.ts'
import { makeExample } from './make-example.ts'
import { exampleSchema, inferSchema, streamSchema } from './playground.schema.ts'
import { runInference } from './run-inference.ts'
import { streamAnswers } from './stream-answers.ts'

export const playgroundRouter = router({
  infer: operatorProcedure
    .meta({ role: 'operator', audited: false })
    .input(inferSchema)
    .mutation(({ ctx, input, signal }) => runInference(ctx, input, signal)),
  stream: operatorProcedure
    .input(streamSchema)
    .subscription(({ ctx, input, signal }) => streamAnswers(ctx, input, signal)),
  example: viewerProcedure.input(exampleSchema).query(({ ctx, input }) => makeExample(ctx.services, input)),
})
