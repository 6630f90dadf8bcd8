import path from 'node:path'
import { parseArgs } from 'node:util'
import { addModel, describePackage, packagesOf, removeModel } from '../zoo/add-model.ts'
import type { ZooModel } from '../zoo/zoo-models.ts'
import { ZOO } from '../zoo/zoo-models.ts'

/** `conch zoo list`, `conch zoo add NAME…` and `conch zoo remove NAME…`, the latter with `--model-repository=DIR`. */
export async function runZoo(args: readonly string[]): Promise<number> {
  const [verb = '', ...rest] = args
  if (verb === 'list' && rest.length === 0) return listModels()
  const asked = verb === 'add' || verb === 'remove' ? readNames(rest) : `unknown verb '${verb}': list, add or remove`
  if (typeof asked === 'string') {
    console.error(`conch zoo: ${asked}. See conch zoo --help.`)
    return 2
  }
  for (const { name, model } of asked.models) {
    try {
      if (verb === 'add') await add(asked.repository, name, model)
      else await removeModel(path.join(asked.repository, name))
      console.log(`${name}: ${verb === 'add' ? 'added to' : 'removed from'} ${asked.repository}`)
    } catch (error) {
      console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`)
      return 1
    }
  }
  return 0
}

async function add(repository: string, name: string, model: ZooModel): Promise<void> {
  for (const source of packagesOf(model)) console.log(describePackage(source))
  await addModel(path.join(repository, name), model)
}

function listModels(): number {
  for (const [name, model] of ZOO) {
    const megabytes = model.files.reduce((sum, file) => sum + file.bytes, 0) / 1e6
    console.log(`${name.padEnd(12)} ${megabytes.toFixed(1).padStart(5)} MB  ${model.title}`)
    for (const source of packagesOf(model)) console.log(`${''.padEnd(22)} ${describePackage(source)}`)
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
