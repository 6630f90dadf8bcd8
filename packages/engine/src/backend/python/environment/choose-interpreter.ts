import { ConchError } from '@conch/protocol'
import { findPrograms, probeInterpreter } from './interpreter.ts'
import type { Interpreter } from './interpreter.ts'
import type { EnvironmentRequest } from './request.ts'
import { isWanted, readWantedVersions } from './wanted-version.ts'
import type { WantedVersion } from './wanted-version.ts'

/** What the child process runs on. */
const OLDEST: WantedVersion = { file: '', text: '3.9', specifiers: ['>=3.9'] }
const NEWER = ['python3.14', 'python3.13', 'python3.12', 'python3.11', 'python3.10', 'python3.9']

/**
 * The interpreter of the setting, or the first on the PATH that fits: `python3` before those that carry a version.
 * `bare`: packages will be installed for it, so that it need not have any itself.
 */
export async function chooseInterpreter(
  request: EnvironmentRequest,
  env: Record<string, string>,
  { bare }: { bare: boolean } = { bare: false },
): Promise<Interpreter> {
  const named = request.settings['python-executable'] ?? ''
  const programs = await findPrograms(named === '' ? ['python3', 'python', ...NEWER] : [named], env)
  const wanted = [OLDEST, ...(await readWanted(request))]
  const modules = bare ? [] : listModules(request)
  /** 2 = usable, 1 = of the right version but something is missing, 0 = of the wrong version. */
  const rate = (found: Interpreter): number => {
    if (!wanted.every((version) => isWanted(found.version, version))) return 0
    return bare || (found.hasNumpy && found.modules.length === modules.length) ? 2 : 1
  }
  let best: { readonly found: Interpreter; readonly rank: number } | undefined = undefined
  for (const program of programs) {
    const found = await probeInterpreter(program, { env, modules }).catch(() => undefined)
    if (found === undefined) continue
    const rank = rate(found)
    if (rank === 2) return found
    // What is told is what the closest one lacks.
    if (best === undefined || rank > best.rank) best = { found, rank }
  }
  if (best === undefined) throw refuseNone(named)
  await checkInterpreter(request, best.found, undefined)
  return best.found
}

/** Names of the modules that the backend cannot do without. */
export function listModules({ needs = [] }: EnvironmentRequest): readonly string[] {
  return needs.map(({ module }) => module)
}

function refuseNone(named: string): ConchError {
  const what = named === '' ? 'no python3 on the PATH of the server' : `the interpreter '${named}' does not run`
  const fix = 'install Python 3.9 or newer with numpy, or name it with --backend-config=python,python-executable=PATH'
  return new ConchError('UNAVAILABLE', `Python models need an interpreter, but there is ${what}: ${fix}`)
}

function readWanted({ versionDirectory, modelDirectory }: EnvironmentRequest): Promise<readonly WantedVersion[]> {
  return readWantedVersions([versionDirectory, modelDirectory])
}

/** Throws one line for the first thing that does not fit. `of` is the environment it belongs to. */
export async function checkInterpreter(
  request: EnvironmentRequest,
  interpreter: Interpreter,
  of: string | undefined,
): Promise<void> {
  const { version, hasNumpy, modules } = interpreter
  const who = of === undefined ? `the server's Python ${version}` : `Python ${version} of the environment '${of}'`
  const other =
    of === undefined ? 'name another with --backend-config=python,python-executable=PATH' : 'make it with another'
  if (!isWanted(version, OLDEST)) {
    throw new ConchError('UNAVAILABLE', `Python models need Python 3.9 or newer, but ${who} is older: ${other}`)
  }
  for (const wanted of await readWanted(request)) {
    if (isWanted(version, wanted)) continue
    const what = `${wanted.file} of the model asks for Python ${wanted.text}, which ${who} is not`
    throw new ConchError('UNAVAILABLE', `${what}: ${other}, or change ${wanted.file}`)
  }
  if (!hasNumpy) {
    throw new ConchError(
      'UNAVAILABLE',
      `Python models need numpy, which ${who} does not have: ${describeInstall('numpy')}`,
    )
  }
  const missing = request.needs?.find(({ module }) => !modules.includes(module))
  if (missing === undefined) return
  const { title, install } = missing
  throw new ConchError(
    'UNAVAILABLE',
    `this model needs ${title}, which ${who} does not have: ${describeInstall(install)}`,
  )
}

function describeInstall(what: string): string {
  return `python3 -m pip install ${what}, or write ${what} into a requirements.txt next to the model`
}
