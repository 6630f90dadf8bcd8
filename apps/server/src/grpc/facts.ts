import { ConchError } from '@conch/protocol'
import type { IndexEntry } from '@conch/engine'
import { EXTENSIONS, PROTOCOL_VERSION } from '../version.ts'
import type { Face } from './face.ts'
import type { Fields } from './fields.ts'
import { findVersion } from '../version-text.ts'

function checkAlive({ engine }: Face): void {
  if (engine.phase === 'exiting') throw new ConchError('UNAVAILABLE', 'Server exiting')
}

export function serverLive(face: Face): Fields {
  checkAlive(face)
  return { live: face.engine.live() }
}

export async function serverReady(face: Face): Promise<Fields> {
  checkAlive(face)
  return { ready: await face.engine.ready() }
}

/** `grpc.health.v1`: the service's name is not looked at. */
export async function checkHealth(face: Face): Promise<Fields> {
  checkAlive(face)
  return { status: (await face.engine.ready()) ? 1 : 2 }
}

export async function modelReady(face: Face, request: Fields): Promise<Fields> {
  const { name, version } = readTarget(face, request)
  return { ready: await face.engine.modelReady(name, version) }
}

export function serverMetadata({ id }: Face): Fields {
  return { name: id, version: PROTOCOL_VERSION, extensions: EXTENSIONS }
}

export function modelMetadata(face: Face, request: Fields): Fields {
  const { name, version } = readTarget(face, request)
  return { ...face.engine.metadata(name, version) }
}

export function modelConfig(face: Face, request: Fields): Fields {
  const { name, version } = readTarget(face, request)
  return { config: face.engine.config(name, version) }
}

export function modelStatistics(face: Face, request: Fields): Fields {
  const { name, version } = readTarget(face, request)
  return { model_stats: face.engine.statistics(name, version) }
}

export async function repositoryIndex({ engine }: Face, request: Fields): Promise<Fields> {
  checkRepository(request)
  const entries = await engine.index(request['ready'] === true)
  return { models: entries.map(showEntry) }
}

function showEntry({ name, version, state, reason }: IndexEntry): Fields {
  return { name, version: version ?? '', state: state ?? '', reason }
}

type Choice = Readonly<{ bool_param?: boolean; int64_param?: number; string_param?: string; bytes_param?: Uint8Array }>

export async function loadModel({ engine }: Face, request: Fields): Promise<Fields> {
  checkRepository(request)
  let config: string | undefined
  const files = new Map<string, Uint8Array>()
  for (const [key, choice] of Object.entries(request['parameters'] as Record<string, Choice>)) {
    if (key === 'config') config = choice.string_param ?? refuseLoad(key, 'string_param')
    else if (key.startsWith('file:'))
      files.set(key.slice('file:'.length), choice.bytes_param ?? refuseLoad(key, 'bytes_param'))
    else throw new ConchError('INVALID_ARG', `unrecognized load parameter '${key}'.`)
  }
  const override = config === undefined && files.size === 0 ? undefined : { config, files }
  await engine.load(request['model_name'] as string, override)
  return {}
}

function refuseLoad(key: string, expected: string): never {
  throw new ConchError('INVALID_ARG', `invalid value type for load parameter '${key}', expected ${expected}.`)
}

export async function unloadModel({ engine }: Face, request: Fields): Promise<Fields> {
  checkRepository(request)
  const dependents = (request['parameters'] as Record<string, Choice>)['unload_dependents']
  if (dependents !== undefined && dependents.bool_param === undefined) {
    throw new ConchError('INVALID_ARG', "invalid value type for 'unload_dependents' parameter, expected bool_param.")
  }
  await engine.unload(request['model_name'] as string, dependents?.bool_param === true)
  return {}
}

function checkRepository(request: Fields): void {
  if (request['repository_name'] === '') return
  throw new ConchError('UNSUPPORTED', "'repository_name' specification is not supported")
}

function readTarget({ engine }: Face, request: Fields): { name: string; version: string } {
  const name = request['name'] as string
  return { name, version: findVersion(engine, name, request['version'] as string) }
}
