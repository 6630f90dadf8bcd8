import { router, viewerProcedure } from '../trpc.ts'
import { listAuditSchema } from './audit.schema.ts'

export const auditRouter = router({
  list: viewerProcedure.input(listAuditSchema).query(({ ctx, input }) => ctx.services.db.listAudit(input)),
})
