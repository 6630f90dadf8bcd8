import { pathToFileURL } from 'node:url'
import { ConchError } from '@conch/protocol'
import type { CustomBackend } from './custom-backend.ts'
import { explainFault } from './explain-fault.ts'
import { guardBackend } from './guard.ts'
import type { GuardedBackend } from './guard.ts'
import type { Origin } from './locate.ts'

/** Runs the code of a custom backend in this process. Throws with file and line. */
export async function importModule(origin: Pick<Origin, 'name' | 'directory' | 'file'>): Promise<GuardedBackend> {
  const { name, file } = origin
  let exported: Record<string, unknown>
  try {
    exported = (await import(pathToFileURL(file).href)) as Record<string, unknown>
  } catch (error) {
    throw explainFault(error, origin, 'to be imported')
  }
  const createBackend = exported['createBackend'] ?? readCommonJs(exported)
  if (typeof createBackend !== 'function') throw refuseExports(name, exported)
  let custom: unknown
  try {
    custom = await (createBackend as () => unknown)()
  } catch (error) {
    throw explainFault(error, origin, 'in createBackend')
  }
  return guardBackend(checkBackend(custom, name), origin)
}

/** What `module.exports.createBackend = …` may come as. */
function readCommonJs({ default: whole }: Record<string, unknown>): unknown {
  return typeof whole === 'object' && whole !== null ? (whole as Record<string, unknown>)['createBackend'] : undefined
}

function refuseExports(name: string, exported: Record<string, unknown>): ConchError {
  const names = Object.keys(exported).filter((one) => one !== 'module.exports' && one !== 'default')
  const found = names.length === 0 ? 'nothing' : names.join(', ')
  const text = `backend '${name}' must export a function createBackend that returns a backend; it exports ${found}`
  return new ConchError('INVALID_ARG', text)
}

function checkBackend(custom: unknown, name: string): CustomBackend {
  const about = `backend '${name}': createBackend must return an object`
  if (typeof custom !== 'object' || custom === null) {
    throw new ConchError('INVALID_ARG', `${about}, got ${custom === null ? 'null' : typeof custom}`)
  }
  const made = custom as Record<string, unknown>
  if (typeof made['load'] !== 'function') throw new ConchError('INVALID_ARG', `${about} with a method load`)
  if (made['complete'] !== undefined && typeof made['complete'] !== 'function') {
    throw new ConchError('INVALID_ARG', `${about} whose complete, if there is one, is a method`)
  }
  if (made['preferredGroup'] !== undefined && !isGroup(made['preferredGroup'])) {
    const text = `${about} whose preferredGroup, if there is one, is like {kind: 'KIND_CPU', count: 1}`
    throw new ConchError('INVALID_ARG', text)
  }
  return custom as CustomBackend
}

function isGroup(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { kind, count } = value as Record<string, unknown>
  const known = kind === 'KIND_CPU' || kind === 'KIND_GPU' || kind === 'KIND_MODEL'
  return known && Number.isInteger(count) && Number(count) > 0
}
