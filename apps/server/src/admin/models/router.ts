import { resumeSchema } from '../resume.schema.ts'
import { editorProcedure, operatorProcedure, router, viewerProcedure } from '../trpc.ts'
import { deleteVersion } from './delete-version.ts'
import { followModels } from './follow-models.ts'
import { getModel } from './get-model.ts'
import { listInstances } from './list-instances.ts'
import { listModels } from './list-models.ts'
import { loadModel } from './load-model.ts'
import {
  deleteVersionSchema,
  getModelSchema,
  instancesSchema,
  loadModelSchema,
  modelFileSchema,
  removeModelSchema,
  unloadModelSchema,
} from './models.schema.ts'
import { readModelFile } from './read-model-file.ts'
import { removeModel } from './remove-model.ts'
import { unloadModel } from './unload-model.ts'

export const modelsRouter = router({
  list: viewerProcedure.query(({ ctx }) => listModels(ctx.services)),
  get: viewerProcedure.input(getModelSchema).query(({ ctx, input }) => getModel(ctx.services, input)),
  instances: viewerProcedure.input(instancesSchema).query(({ ctx, input }) => listInstances(ctx.services, input)),
  file: viewerProcedure.input(modelFileSchema).query(({ ctx, input }) => readModelFile(ctx.services, input)),
  load: operatorProcedure.input(loadModelSchema).mutation(({ ctx, input }) => loadModel(ctx, input)),
  reload: operatorProcedure.input(loadModelSchema).mutation(({ ctx, input }) => loadModel(ctx, input)),
  unload: operatorProcedure.input(unloadModelSchema).mutation(({ ctx, input }) => unloadModel(ctx, input)),
  deleteVersion: editorProcedure.input(deleteVersionSchema).mutation(({ ctx, input }) => deleteVersion(ctx, input)),
  removeModel: editorProcedure.input(removeModelSchema).mutation(({ ctx, input }) => removeModel(ctx, input)),
  events: viewerProcedure.input(resumeSchema).subscription(({ ctx, signal }) => followModels(ctx.services, signal)),
})
