import { relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CODE_TEXT, ConchError } from '@conch/protocol'
import type { Code } from '@conch/protocol'

/** Whose code it is: a name for people, and the real directory of the files. */
export interface Blamed {
  readonly name: string
  readonly directory: string
}

/**
 * What a custom backend threw, for a client: an error with one of the eight codes is its author's word and passes as it
 * is; anything else becomes INTERNAL with what it was doing and the file and line it came from, relative to the backend.
 */
export function explainFault(error: unknown, { name, directory }: Blamed, doing: string): ConchError {
  if (error instanceof ConchError) return error
  const code = readCode(error)
  if (code !== undefined) return new ConchError(code, describe(error), { cause: error })
  const place = findPlace(error, { name, directory })
  const where = place === undefined ? '' : ` (${place})`
  return new ConchError('INTERNAL', `backend '${name}' failed ${doing}: ${describe(error)}${where}`, { cause: error })
}

function readCode(error: unknown): Code | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const { code } = error
  return typeof code === 'string' && Object.hasOwn(CODE_TEXT, code) ? (code as Code) : undefined
}

/** `TypeError: x is not a function`; one line, and of bounded length. */
function describe(error: unknown): string {
  const text = error instanceof Error ? nameError(error) : `it threw ${show(error)}`
  const line = text.split('\n')[0]?.trim() ?? ''
  return line.length > 500 ? `${line.slice(0, 500)}…` : line
}

function nameError({ name, message, constructor }: Error): string {
  const coded = typeof constructor === 'function' && 'code' in constructor
  if (message === '') return name
  return name === 'Error' || coded ? message : `${name}: ${message}`
}

function show(value: unknown): string {
  try {
    return typeof value === 'string' ? JSON.stringify(value) : String(value)
  } catch {
    return `something that cannot be shown`
  }
}

const FRAME = /((?:file:\/\/)?\/[^\s()?]+?)(?:\?[^\s():]*)?:(\d+)(?::\d+)?(?=[\s)]|$)/g

/** The first place of a stack that lies in the backend's directory, as `name/file.ts:12`. */
function findPlace(error: unknown, { name, directory }: Blamed): string | undefined {
  if (!(error instanceof Error) || typeof error.stack !== 'string') return undefined
  for (const [, path = '', line = ''] of error.stack.slice(0, 20_000).matchAll(FRAME)) {
    const way = relative(directory, toPath(path))
    if (way === '' || way === '..' || way.startsWith(`..${sep}`) || way.startsWith(sep)) continue
    return `${name}/${way.split(sep).join('/')}:${line}`
  }
  return undefined
}

function toPath(written: string): string {
  try {
    return written.startsWith('file://') ? fileURLToPath(written) : written
  } catch {
    return '/'
  }
}
