import { editorProcedure, router, viewerProcedure } from '../trpc.ts'
import { checkDraft } from './check-draft.ts'
import { checkPython } from './check-python.ts'
import {
  checkPythonSchema,
  checkSchema,
  discardSchema,
  inspectSchema,
  publishPythonSchema,
  publishSchema,
} from './deploy.schema.ts'
import { inspectUpload } from './inspect-upload.ts'
import { publishPython } from './publish-python.ts'
import { publishUpload } from './publish-upload.ts'

export const deployRouter = router({
  /** Changes nothing outside the staging area, so the audit is silent about it. */
  inspect: editorProcedure
    .meta({ role: 'editor', audited: false })
    .input(inspectSchema)
    .mutation(({ ctx, input }) => inspectUpload(ctx, input)),
  check: viewerProcedure
    .meta({ role: 'viewer', audited: false })
    .input(checkSchema)
    .mutation(({ ctx, input }) => checkDraft(ctx, input)),
  /** Starts a process, so it is not for everybody who may look. */
  checkPython: editorProcedure
    .meta({ role: 'editor', audited: false })
    .input(checkPythonSchema)
    .mutation(({ ctx, input }) => checkPython(ctx, input)),
  publishPython: editorProcedure.input(publishPythonSchema).mutation(({ ctx, input }) => publishPython(ctx, input)),
  publish: editorProcedure.input(publishSchema).mutation(({ ctx, input }) => publishUpload(ctx, input)),
  discard: editorProcedure
    .meta({ role: 'editor', audited: false })
    .input(discardSchema)
    .mutation(async ({ ctx, input }) => {
      await ctx.services.staging.discard(input.uploadId)
      return { discarded: true as const }
    }),
})
