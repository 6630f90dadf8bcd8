import { editorProcedure, router } from '../trpc.ts'
import { saveConfigSchema } from './config.schema.ts'
import { saveConfig } from './save-config.ts'

export const configRouter = router({
  save: editorProcedure.input(saveConfigSchema).mutation(({ ctx, input }) => saveConfig(ctx, input)),
})
