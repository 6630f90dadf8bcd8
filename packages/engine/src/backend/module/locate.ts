import { readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { ConchError } from '@conch/protocol'

/** A custom backend on disk. */
export interface Origin {
  readonly name: string
  /** Its real directory; never to be shown to a client. */
  readonly directory: string
  readonly file: string
  readonly settings: ModuleSettings
}

/** `backend.json`, next to the module. */
export interface ModuleSettings {
  /** `own`: each loaded version runs in a process of its own; `shared`: in the server's. */
  readonly process: 'own' | 'shared'
  /** Longest that one batch may take in an own process, milliseconds; 0 = as long as it likes. */
  readonly executionTimeoutMs: number
}

const FILES = ['backend.ts', 'backend.js', 'backend.mjs']
/** One plain path segment that does not begin with a dot. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/

/** The backend of that name below `--backend-directory`, or undefined. Throws for settings that make no sense. */
export async function locateModule(root: string, name: string): Promise<Origin | undefined> {
  if (!NAME.test(name)) return undefined
  for (const file of FILES) {
    const path = await realpath(join(root, name, file)).catch(() => undefined)
    if (path === undefined) continue
    const directory = await realpath(join(root, name))
    return { name, directory, file: path, settings: await readSettings(join(root, name), name) }
  }
  return undefined
}

async function readSettings(directory: string, name: string): Promise<ModuleSettings> {
  let text: string
  try {
    text = await readFile(join(directory, 'backend.json'), 'utf8')
  } catch {
    return { process: 'shared', executionTimeoutMs: 0 }
  }
  const about = `${name}/backend.json`
  let written: unknown
  try {
    written = JSON.parse(text)
  } catch (cause) {
    throw new ConchError('INVALID_ARG', `${about} is no JSON: ${String(cause)}`, { cause })
  }
  return checkSettings(written, about)
}

function checkSettings(written: unknown, about: string): ModuleSettings {
  const refuse = (text: string): never => {
    throw new ConchError('INVALID_ARG', about + text)
  }
  if (typeof written !== 'object' || written === null || Array.isArray(written)) {
    return refuse(' must hold an object, e.g. {"process": "own"}')
  }
  const { process = 'shared', execution_timeout_ms: limit = 0, ...rest } = written as Record<string, unknown>
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) return refuse(`: unknown setting '${unknown}'; there are process and execution_timeout_ms`)
  if (process !== 'own' && process !== 'shared') {
    return refuse(`: process must be "own" or "shared", got ${JSON.stringify(process)}`)
  }
  if (!isDuration(limit)) return refuse(': execution_timeout_ms must be a whole number of milliseconds')
  if (limit > 0 && process === 'shared') {
    return refuse(`: execution_timeout_ms needs "process": "own"; nothing can end a loop in the server's own process`)
  }
  return { process, executionTimeoutMs: limit }
}

function isDuration(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 31
}
