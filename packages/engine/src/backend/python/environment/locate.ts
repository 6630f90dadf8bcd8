import { realpath, stat } from 'node:fs/promises'
import { basename, isAbsolute, join, resolve } from 'node:path'
import { ConchError } from '@conch/protocol'
import { isBelow } from './below.ts'
import type { EnvironmentRequest } from './request.ts'

/** Where a model's environment comes from. `name` is what people call it; no path of the server. */
export type Source =
  { readonly kind: 'none' } | Place<'archive' | 'directory' | 'venv'> | Place<'requirements' | 'lock'>

interface Place<Kind extends string> {
  readonly kind: Kind
  readonly path: string
  readonly name: string
}

const PARAMETER = 'EXECUTION_ENV_PATH'
const MODEL_DIRECTORY = '$$TRITON_MODEL_DIRECTORY'

/** What the config names wins; then what lies in the version's directory, then in the model's. */
export async function locateSource(request: EnvironmentRequest): Promise<Source> {
  const written = request.parameters[PARAMETER]?.string_value ?? ''
  if (written !== '') return locateNamed(written, request)
  const found = await findBeside([request.versionDirectory, request.modelDirectory])
  if (found.kind === 'none' || request.settings['environments'] !== 'off') return found
  request.log('info', `${found.name} is not used: environments=off`)
  return { kind: 'none' }
}

/** In one directory an environment that is there already wins over how to build one. */
async function findBeside(directories: readonly string[]): Promise<Source> {
  for (const directory of directories) {
    for (const name of ['.venv', 'venv']) {
      const path = join(directory, name)
      if (await isFile(join(path, 'pyvenv.cfg'))) return { kind: 'venv', path, name }
    }
    const lock = join(directory, 'uv.lock')
    if (await isFile(lock)) return { kind: 'lock', path: lock, name: 'uv.lock' }
    const requirements = join(directory, 'requirements.txt')
    if (await isFile(requirements)) return { kind: 'requirements', path: requirements, name: 'requirements.txt' }
  }
  return { kind: 'none' }
}

/**
 * An environment is code that the server runs, so it lies in the model's repository, or in the directory that the
 * operator named for it; real paths are compared.
 */
async function locateNamed(written: string, request: EnvironmentRequest): Promise<Source> {
  const place = written.replaceAll(MODEL_DIRECTORY, request.modelDirectory)
  const path = await findRealPath(resolve(request.modelDirectory, place), written)
  const allowed = [await realpath(request.root ?? request.modelDirectory)]
  const named = request.settings['environment-directory'] ?? ''
  if (isAbsolute(named)) allowed.push(await realpath(named).catch(() => named))
  if (!allowed.some((root) => isBelow(root, path))) {
    const fix = `put it there, or allow its directory with --backend-config=python,environment-directory=DIR`
    throw new ConchError('INVALID_ARG', `${PARAMETER} '${written}' lies outside the model repository; ${fix}`)
  }
  const facts = await stat(path)
  if (facts.isDirectory()) return { kind: 'directory', path, name: written }
  if (facts.isFile()) return { kind: 'archive', path, name: basename(written) }
  throw new ConchError('INVALID_ARG', `${PARAMETER} '${written}' is neither a file nor a directory`)
}

async function findRealPath(path: string, written: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (cause) {
    const text = `Failed to get the canonical path for ${written}. (${PARAMETER}: there is no such file or directory)`
    throw new ConchError('INTERNAL', text, { cause })
  }
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (facts) => facts.isFile(),
    () => false,
  )
}
