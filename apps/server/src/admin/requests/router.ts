import { router, viewerProcedure } from '../trpc.ts'
import { listRequests } from './list-requests.ts'
import { requestIdSchema, requestListSchema, type RequestView } from './requests.schema.ts'

/** Why requests were slow. */
export const requestsRouter = router({
  /** Null for an id that is not known any more. */
  find: viewerProcedure
    .input(requestIdSchema)
    .query(({ ctx, input }): RequestView | null => ctx.services.engine.requests.find(input.id) ?? null),
  list: viewerProcedure.input(requestListSchema).query(({ ctx, input }) => listRequests(ctx.services.engine, input)),
})
