import { dirname, join } from 'node:path'
import { readFile } from 'node:fs/promises'
import { ConchError } from '@conch/protocol'
import { runCommand } from './command.ts'
import { findPrograms } from './interpreter.ts'
import type { Interpreter } from './interpreter.ts'
import type { EnvironmentLog } from './request.ts'

/** What is to be installed, with which interpreter, and where. */
export interface Installation {
  readonly kind: 'requirements' | 'lock'
  /** The requirements or lock file; relative names in it are relative to its directory. */
  readonly path: string
  readonly name: string
  readonly interpreter: Interpreter
  readonly env: Readonly<Record<string, string>>
  readonly log: EnvironmentLog
}

interface Step {
  readonly what: string
  readonly program: string
  readonly args: readonly string[]
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

/** Makes a virtual environment in the empty `directory` and installs into it; each line of the installer is logged. */
export async function installEnvironment(
  installation: Installation,
  directory: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { log, name, interpreter, env } = installation
  const started = performance.now()
  const [uv] = await findPrograms(['uv'], env)
  if (installation.kind === 'lock' && uv === undefined) throw refuseWithoutUv(installation)
  log(
    'info',
    `making the environment of ${name} with Python ${interpreter.version} and ${uv === undefined ? 'pip' : 'uv'}`,
  )
  for (const step of await planSteps(installation, directory, uv))
    await runStep(installation, step, { directory, signal })
  await ensureNumpy(installation, { directory, uv, signal })
  log('info', `made the environment of ${name} in ${((performance.now() - started) / 1_000).toFixed(1)} s`)
}

function refuseWithoutUv({ name }: Installation): ConchError {
  const fix = "install uv (python3 -m pip install uv, or your system's package), or write a requirements.txt instead"
  return new ConchError('UNAVAILABLE', `${name} needs uv, which is not on the server's PATH: ${fix}`)
}

async function planSteps(installation: Installation, directory: string, uv: string | undefined): Promise<Step[]> {
  const { path, interpreter, kind } = installation
  const python = join(directory, 'bin', 'python')
  if (uv === undefined) {
    return [
      { what: 'python -m venv', program: interpreter.path, args: ['-m', 'venv', directory] },
      { what: 'pip install', program: python, args: pip('-r', path) },
    ]
  }
  const venv = {
    what: 'uv venv',
    program: uv,
    args: ['venv', '--allow-existing', '--python', interpreter.path, directory],
  }
  if (kind === 'requirements') {
    return [venv, { what: 'uv pip install', program: uv, args: ['pip', 'install', '--python', python, '-r', path] }]
  }
  // The lock is taken as it is, and the model's directory is not written to.
  const project = ['--project', dirname(path), '--frozen', '--no-install-project', '--no-dev']
  return [venv, { what: 'uv sync', program: uv, args: ['sync', ...project, '--python', python] }]
}

function pip(...args: readonly string[]): string[] {
  return ['-m', 'pip', 'install', '--no-input', '--progress-bar', 'off', '--disable-pip-version-check', ...args]
}

/** Every model needs numpy, whether its author wrote it down or not. */
async function ensureNumpy(
  installation: Installation,
  place: { directory: string; uv: string | undefined; signal: AbortSignal | undefined },
): Promise<void> {
  const python = join(place.directory, 'bin', 'python')
  const env = cleanVariables(installation.env, place.directory)
  const check = ['-c', 'import importlib.util, sys; sys.exit(importlib.util.find_spec("numpy") is None)']
  const found = await runCommand({ program: python, args: check, directory: '/', env, signal: place.signal })
  if (found.code === 0) return
  installation.log('info', `${installation.name} does not name numpy, which every model needs: installing it too`)
  // The index that the file names is the one to take it from; files with hashes take nothing that has none.
  const takesMore =
    installation.kind === 'requirements' && !(await readFile(installation.path, 'utf8')).includes('--hash')
  const wanted = takesMore ? ['-r', installation.path, 'numpy'] : ['numpy']
  const step =
    place.uv === undefined
      ? { what: 'pip install numpy', program: python, args: pip(...wanted) }
      : { what: 'uv pip install numpy', program: place.uv, args: ['pip', 'install', '--python', python, ...wanted] }
  await runStep(installation, step, place)
}

async function runStep(
  installation: Installation,
  step: Step,
  place: { directory: string; signal: AbortSignal | undefined },
): Promise<void> {
  const { log, name, path } = installation
  const { code, lines } = await runCommand({
    program: step.program,
    args: step.args,
    directory: dirname(path),
    env: cleanVariables(installation.env, place.directory),
    signal: place.signal,
    onLine: (line) => log('info', `${name}: ${line}`),
  })
  if (code === 0) return
  const hide = (line: string): string =>
    line.replaceAll(place.directory, '<environment>').replaceAll(dirname(path), '.')
  const tail = pickLines(lines).map(hide).join('\n')
  const fix = lines.some((line) => line.includes('ensurepip'))
    ? '\nInstall the venv module (Debian: apt-get install python3-venv), or uv.'
    : ''
  throw new ConchError(
    'INTERNAL',
    `the environment of ${name} was not made: ${step.what} ended with ${code}\n${tail}${fix}`,
  )
}

/** The errors that the installer marks as such, else the last lines. */
function pickLines(lines: readonly string[]): readonly string[] {
  const plain = lines.filter((line) => !line.startsWith('[notice]'))
  const errors = plain.filter((line) => /^\s*(error|×|ERROR)/i.test(line))
  return (errors.length > 0 && errors.length < 3 ? [...new Set([...plain.slice(-TAIL), ...errors])] : plain).slice(
    -TAIL,
  )
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
  const args = pip('--dry-run', '--no-index', '--no-deps', '--quiet', '--report', '-', '-r', path)
  const clean = { ...cleanVariables(env, ''), PYTHONPATH: env['PYTHONPATH'] ?? '', PIP_FIND_LINKS: '' }
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
