import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ConchError } from '@conch/protocol'
import type { z } from 'zod'
import { resolveInside } from '../contain.ts'
import type { AdminContext } from '../context.ts'
import { listFolder } from '../model-files.ts'
import { refuseConfig } from '../trpc.ts'
import { checkPython } from './check-python.ts'
import type { Published, publishPythonSchema } from './deploy.schema.ts'
import { publishUpload } from './publish-upload.ts'

type Input = z.infer<typeof publishPythonSchema>

/** Makes a version of what was written in the console; from there on it goes the way of every upload. */
export async function publishPython(context: AdminContext, input: Input): Promise<Published> {
  const { model, code, requirements, configText, load, overwriteConfig, basedOn } = input
  const { staging } = context.services
  const names = { inputs: [], outputs: [] }
  const { problems } = await checkPython(context, { model, code, requirements, basedOn, ...names })
  const error = problems.find(({ severity }) => severity === 'error')
  if (error !== undefined) throw refuseConfig(`model.py, line ${error.line}: ${error.message}`, problems)
  const { id, directory } = await staging.create()
  try {
    await stage(context, join(directory, 'model'), input)
    return await publishUpload(context, { uploadId: id, model, version: 'next', configText, load, overwriteConfig })
  } finally {
    await staging.discard(id)
  }
}

const WRITTEN = ['model.py', 'requirements.txt']

async function stage({ services }: AdminContext, staged: string, input: Input): Promise<void> {
  const { model, code, requirements, basedOn } = input
  const target = join(staged, '1')
  await mkdir(target, { recursive: true })
  await writeFile(join(target, 'model.py'), code)
  if (requirements.trim() !== '') await writeFile(join(target, 'requirements.txt'), requirements)
  if (basedOn === undefined) return
  const { directory } = await services.repositories.get(model)
  const source = await resolveInside(directory, basedOn).catch(() => {
    throw new ConchError('NOT_FOUND', `'${model}' has no version ${basedOn} any more`)
  })
  for (const { path } of await listFolder(source)) {
    if (WRITTEN.includes(path) || path.includes('__pycache__/')) continue
    await mkdir(dirname(join(target, path)), { recursive: true })
    await copyFile(join(source, path), join(target, path))
  }
}
