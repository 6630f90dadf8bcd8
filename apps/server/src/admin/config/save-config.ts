import { join } from 'node:path'
import { rm } from 'node:fs/promises'
import { ConchError } from '@conch/protocol'
import type { z } from 'zod'
import { checkText, hasErrors } from '../check-text.ts'
import { hashText, readConfigFile } from '../config-file.ts'
import type { AdminContext, Services } from '../context.ts'
import { listFolder, namesOfNewest } from '../model-files.ts'
import { explainPickUp, readStateOf } from '../model-state.ts'
import type { ModelFolder } from '../repositories.ts'
import { refuseConfig } from '../trpc.ts'
import { explainDisk, replaceFile } from '../write-file.ts'
import type { SavedConfig, saveConfigSchema } from './config.schema.ts'

type Input = z.infer<typeof saveConfigSchema>

/**
 * Puts a config in place and loads the model with it. When a model that serves cannot be loaded with the new text, the
 * old text returns and the old version goes on: what is on disk is what would start again.
 */
export async function saveConfig({ services, audit }: AdminContext, input: Input): Promise<SavedConfig> {
  const { model, configText, expectedHash } = input
  const { repositories, engine, server } = services
  return repositories.exclusive(model, async () => {
    const folder = await repositories.get(model)
    const before = await readConfigFile(folder.directory, services.configName)
    if (hashText(before.text) !== expectedHash) {
      throw new ConchError(
        'ALREADY_EXISTS',
        'the config was changed by somebody else meanwhile; load it again and repeat your change',
      )
    }
    await refuseErrors(folder, configText)
    const hash = hashText(configText)
    audit.detail = `config ${expectedHash.slice(0, 8) || '(none)'} → ${hash.slice(0, 8)}`
    const served = (await engine.index(true)).some(({ name }) => name === model)
    await writeConfig(services, folder, { path: before.path, text: configText })
    if (server.controlMode !== 'explicit') {
      const { state } = await readStateOf(engine, model)
      return { hash, state, reason: explainPickUp(services) }
    }
    try {
      await engine.load(model)
    } catch (error) {
      if (!served) return { hash, ...(await readStateOf(engine, model)) }
      await writeConfig(services, folder, before)
      const text = error instanceof Error ? error.message : String(error)
      throw new ConchError('INVALID_ARG', `the model does not load with this config, so the old one stays: ${text}`, {
        cause: error,
      })
    }
    return { hash, ...(await readStateOf(engine, model)) }
  })
}

async function refuseErrors(folder: ModelFolder, text: string): Promise<void> {
  const paths = (await listFolder(folder.directory)).map(({ path }) => path)
  const { problems } = checkText(text, folder.model, {
    versionFiles: namesOfNewest(paths),
    has: (path) => paths.includes(path),
  })
  const first = problems.find(({ severity }) => severity === 'error')
  if (!hasErrors(problems) || first === undefined) return
  throw refuseConfig(`line ${first.line}: ${first.message}`, problems)
}

async function writeConfig(
  { repositories }: Services,
  folder: ModelFolder,
  file: { path: string; text: string | null },
): Promise<void> {
  const target = join(folder.directory, file.path)
  if (file.text === null) return rm(target, { force: true })
  const work = await repositories.makeWork(folder.root).catch((error: unknown) => {
    throw explainDisk(error)
  })
  try {
    await replaceFile(target, Buffer.from(file.text), work)
  } finally {
    await repositories.dropWork(work)
  }
}
