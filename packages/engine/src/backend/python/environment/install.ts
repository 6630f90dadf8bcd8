import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ConchError } from '@conch/protocol'
import { runCommand } from './command.ts'
import { chooseInstaller, QUIET_PIP } from './installer.ts'
import type { Installer, Step } from './installer.ts'
import type { Interpreter } from './interpreter.ts'
import type { EnvironmentLog } from './request.ts'

/** What is to be installed, and with which interpreter. */
export interface Installation {
  readonly kind: 'requirements' | 'lock'
  /** The requirements or lock file; relative names in it are relative to its directory. */
  readonly path: string
  readonly name: string
  readonly interpreter: Interpreter
  readonly env: Readonly<Record<string, string>>
  readonly log: EnvironmentLog
}

interface Place {
  readonly directory: string
  readonly signal: AbortSignal | undefined
}

/** Variables that would send packages elsewhere, or change what is found. */
const MISLEADING = [
  'PYTHONHOME',
  'PYTHONPATH',
  'PIP_USER',
  'PIP_TARGET',
  'PIP_PREFIX',
  'PIP_REQUIRE_VIRTUALENV',
  'VIRTUAL_ENV',
]
/** Lines of an installer that an error carries. */
const TAIL = 8
const HAS_NUMPY = 'import importlib.util, sys; sys.exit(importlib.util.find_spec("numpy") is None)'

/** Makes a virtual environment in the empty `directory` and installs into it; each line of the installer is logged. */
export async function installEnvironment(installation: Installation, place: Place): Promise<void> {
  const { log, name, path, interpreter, kind } = installation
  const started = performance.now()
  const env = cleanVariables(installation.env, place.directory)
  const installer = await chooseInstaller(place.directory, { interpreter, env, signal: place.signal })
  const fill = kind === 'lock' ? installer.sync?.(path) : installer.install('-r', path)
  if (fill === undefined) throw refuseWithoutUv(installation)
  log('info', `making the environment of ${name} with Python ${interpreter.version} and ${installer.name}`)
  await runStep(installation, installer.venv, place)
  await runStep(installation, fill, place)
  await ensureNumpy(installation, installer, place)
  log('info', `made the environment of ${name} in ${((performance.now() - started) / 1_000).toFixed(1)} s`)
}

function refuseWithoutUv({ name }: Installation): ConchError {
  const fix = "install uv (python3 -m pip install uv, or your system's package), or write a requirements.txt instead"
  return new ConchError('UNAVAILABLE', `${name} needs uv, which is not on the server's PATH: ${fix}`)
}

/** Every model needs numpy, whether its author wrote it down or not. */
async function ensureNumpy(installation: Installation, installer: Installer, place: Place): Promise<void> {
  const { kind, path, name, log } = installation
  const env = cleanVariables(installation.env, place.directory)
  const program = join(place.directory, 'bin', 'python')
  const { code } = await runCommand({ program, args: ['-c', HAS_NUMPY], directory: '/', env, signal: place.signal })
  if (code === 0) return
  log('info', `${name} does not name numpy, which every model needs: installing it too`)
  // The index that the file names is the one to take it from; files with hashes take nothing that has none.
  const takesMore = kind === 'requirements' && !(await readFile(path, 'utf8')).includes('--hash')
  await runStep(installation, installer.install(...(takesMore ? ['-r', path, 'numpy'] : ['numpy'])), place)
}

async function runStep(installation: Installation, step: Step, { directory, signal }: Place): Promise<void> {
  const { log, name, path } = installation
  const { code, lines } = await runCommand({
    program: step.program,
    args: step.args,
    directory: dirname(path),
    env: cleanVariables(installation.env, directory),
    signal,
    onLine: (line) => log('info', `${name}: ${line}`),
  })
  if (code === 0) return
  const hide = (line: string): string => line.replaceAll(directory, '<environment>').replaceAll(dirname(path), '.')
  const what = `the environment of ${name} was not made: ${step.what} ended with ${code}`
  const fix = lines.some((line) => line.includes('ensurepip'))
    ? ['Install the venv module (Debian: apt-get install python3-venv), or uv.']
    : []
  throw new ConchError('INTERNAL', [what, ...pickLines(lines).map(hide), ...fix].join('\n'))
}

/** The last lines, without the installer's advertisement of itself. */
function pickLines(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => !line.startsWith('[notice]')).slice(-TAIL)
}

function cleanVariables(base: Readonly<Record<string, string>>, directory: string): Record<string, string> {
  const env: Record<string, string> = { ...base, PYTHONUNBUFFERED: '1', NO_COLOR: '1', UV_NO_PROGRESS: '1' }
  for (const name of MISLEADING) delete env[name]
  // uv is told which interpreter to use; it fetches none.
  env['UV_PYTHON_DOWNLOADS'] = 'never'
  env['UV_PROJECT_ENVIRONMENT'] = directory
  return env
}

/**
 * Whether the interpreter has all that a requirements file asks for, in the right versions: nothing need be made then.
 * Asks no index.
 */
export async function isSatisfied(installation: Installation, signal: AbortSignal | undefined): Promise<boolean> {
  if (!installation.interpreter.hasNumpy) return false
  const { env, path, interpreter } = installation
  const ask = ['--dry-run', '--no-index', '--no-deps', '--quiet', '--report', '-', '-r', path]
  const clean = { ...cleanVariables(env, ''), PYTHONPATH: env['PYTHONPATH'] ?? '', PIP_FIND_LINKS: '' }
  const args = ['-m', 'pip', 'install', ...QUIET_PIP, ...ask]
  const command = { program: interpreter.path, args, directory: dirname(path), env: clean, signal, timeoutMs: 30_000 }
  const { code, output } = await runCommand(command)
  return code === 0 && readInstallCount(output) === 0
}

/** How many packages pip's report would install; undefined when it is no report. */
function readInstallCount(report: string): number | undefined {
  try {
    const { install } = JSON.parse(report.slice(report.indexOf('{'))) as { install?: unknown }
    return Array.isArray(install) ? install.length : undefined
  } catch {
    return undefined
  }
}
