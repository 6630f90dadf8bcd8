import { join } from 'node:path'
import type { z } from 'zod'
import { checkText } from '../check-text.ts'
import type { AdminContext } from '../context.ts'
import { listFolder, namesOfNewest } from '../model-files.ts'
import { checkSignature } from './check-signature.ts'
import type { CheckResult, checkSchema } from './deploy.schema.ts'
import { readSignature } from './read-signature.ts'

/** Problems of a config that is being written; with staged files, or those of the model of that name, held against them. */
export async function checkDraft({ services }: AdminContext, input: z.infer<typeof checkSchema>): Promise<CheckResult> {
  const { model, configText, uploadId } = input
  const directory =
    uploadId === undefined
      ? (await services.repositories.find(model))?.directory
      : join(await services.staging.get(uploadId), 'model')
  if (directory === undefined) {
    const { problems, effective } = checkText(configText, model)
    return { problems, effective }
  }
  const paths = (await listFolder(directory)).map(({ path }) => path)
  const checked = checkText(configText, model, {
    versionFiles: namesOfNewest(paths),
    has: (path) => paths.includes(path),
  })
  const { signature } = await readSignature(directory, paths)
  const more = signature === null || checked.config.backend !== 'onnxruntime' ? [] : checkSignature(checked, signature)
  return { problems: [...checked.problems, ...more], effective: checked.effective }
}
