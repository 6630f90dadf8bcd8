import type { Engine, ModelMetadata } from '@conch/engine'
import { ConchError, type ModelConfig } from '@conch/protocol'
import { checkText, toEffective } from '../check-text.ts'
import { hashText, readConfigFile } from '../config-file.ts'
import type { Services } from '../context.ts'
import { toJsonSafe } from '../json-safe.ts'
import { listFolder, listSamples, namesOfNewest, readReadme } from '../model-files.ts'
import { groupIndex, type IndexedModel } from '../model-state.ts'
import type { ModelFolder } from '../repositories.ts'
import { hidePaths, readPythonFailure } from '../python-failure.ts'
import type { ModelDetails, VersionFailure, VersionRow } from './models.schema.ts'

interface Input {
  readonly model: string
  readonly version?: string | undefined
}

/** Everything about one model, also of one that does not load. */
export async function getModel(services: Services, { model, version }: Input): Promise<ModelDetails> {
  const { engine, repositories } = services
  const indexed = groupIndex((await engine.index(false)).filter(({ name }) => name === model))[0]
  const folder = await repositories.find(model)
  if (indexed === undefined && folder === undefined) throw new ConchError('NOT_FOUND', `there is no model '${model}'`)
  const known = indexed ?? { name: model, versions: [], state: 'UNKNOWN' as const, reason: '' }
  return {
    name: model,
    state: known.state,
    reason: hidePaths(known.reason, folder),
    versions: known.versions.map((row) => ({ ...row, reason: hidePaths(row.reason, folder) })),
    failures: await readFailures(known.versions, folder),
    ...readServed(engine, known, version),
    ...(await readFolder(services, folder)),
  }
}

async function readFailures(
  versions: readonly VersionRow[],
  folder: ModelFolder | undefined,
): Promise<readonly VersionFailure[]> {
  const failed = versions.filter(({ state }) => state === 'UNAVAILABLE')
  const found = await Promise.all(
    failed.map(async ({ version, reason }) => {
      const failure = await readPythonFailure(reason, folder, version)
      return failure === undefined ? [] : [{ version, ...failure }]
    }),
  )
  return found.flat()
}

const NOT_SERVED = { metadata: null, config: null, effective: [], statistics: null, labels: {} }

function readServed(engine: Engine, model: IndexedModel, wanted: string | undefined) {
  const ready = model.versions.find(({ version, state }) => state === 'READY' && (wanted ?? version) === version)
  if (ready === undefined) return NOT_SERVED
  const { name } = model
  const { version } = ready
  try {
    const config = engine.config(name, version)
    return {
      metadata: describeTensors(engine.metadata(name, version)),
      config: toJsonSafe(config),
      effective: engine.describeConfig(name, version).map(toEffective),
      statistics: toJsonSafe(engine.statistics(name, wanted ?? '')),
      labels: readLabels(engine, config, { name, version }),
    }
  } catch (error) {
    // It was unloaded between the index and now.
    if (error instanceof ConchError) return NOT_SERVED
    throw error
  }
}

function describeTensors({ platform, inputs, outputs }: ModelMetadata): ModelDetails['metadata'] {
  return { platform, inputs, outputs }
}

/** Labels beyond this are for `models.file`. */
const MAX_LABELS = 5000

function readLabels(engine: Engine, config: ModelConfig, { name, version }: { name: string; version: string }) {
  const labels: Record<string, readonly string[]> = Object.create(null) as Record<string, readonly string[]>
  for (const output of config.output) {
    const found = engine.labels(name, version, output.name)
    if (found !== undefined) labels[output.name] = found.slice(0, MAX_LABELS)
  }
  return { ...labels }
}

async function readFolder({ repositories, configName }: Services, folder: ModelFolder | undefined) {
  if (folder === undefined) {
    return {
      configText: null,
      configHash: '',
      problems: [],
      files: [],
      samples: [],
      readme: null,
      writable: false,
      repository: '',
    }
  }
  const { directory, root } = folder
  const [{ text }, files, samples, readme, writable] = await Promise.all([
    readConfigFile(directory, configName),
    listFolder(directory),
    listSamples(folder),
    readReadme(directory),
    repositories.isWritable(root),
  ])
  const paths = new Set(files.map(({ path }) => path))
  const draft = { versionFiles: namesOfNewest([...paths]), has: (path: string) => paths.has(path) }
  return {
    configText: text,
    configHash: hashText(text),
    problems: text === null ? [] : checkText(text, folder.model, draft).problems,
    files,
    samples,
    readme,
    writable,
    repository: root.display,
  }
}
