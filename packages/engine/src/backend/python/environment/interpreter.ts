import { realpath, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { ConchError } from '@conch/protocol'
import { runCommand } from './command.ts'
import { listProgramDirectories } from './env.ts'

/** What an interpreter says of itself. */
export interface Interpreter {
  /** The program itself, absolute: shims and version managers cost time at each start. */
  readonly path: string
  /** `3.11.7` */
  readonly version: string
  /** Everything that compiled packages depend on. */
  readonly build: string
  readonly hasNumpy: boolean
  /** Which of the modules that were asked for can be found. */
  readonly modules: readonly string[]
}

export interface Probe {
  readonly env: Readonly<Record<string, string>>
  /** Modules to look for; they are not imported. */
  readonly modules: readonly string[]
}

/** Runs on any Python since 2.7, so that an old one can say that it is old. */
const PROBE = `
import sys, json, platform
try:
    from importlib.util import find_spec
except ImportError:
    find_spec = lambda name: None
def has(name):
    try:
        return find_spec(name) is not None
    except Exception:
        return False
sys.stdout.write("\\n" + json.dumps([sys.executable, "%d.%d.%d" % sys.version_info[:3],
    sys.version + platform.machine() + platform.platform(), has("numpy"), [m for m in sys.argv[1:] if has(m)]]) + "\\n")
`
const PROBE_MS = 60_000

const probed = new Map<string, Promise<Interpreter>>()

/**
 * Asks an interpreter who it is, once per program and environment while it stays the same. Throws UNAVAILABLE when it
 * does not run or is no Python.
 */
export async function probeInterpreter(python: string, probe: Probe): Promise<Interpreter> {
  const key = await describeProgram(python, probe)
  const known = probed.get(key)
  if (known !== undefined) return known
  const asking = askInterpreter(python, probe)
  probed.set(key, asking)
  try {
    const found = await asking
    // Something is missing that a person may install meanwhile: asked again next time.
    if (!found.hasNumpy || found.modules.length < probe.modules.length) probed.delete(key)
    return found
  } catch (error) {
    probed.delete(key)
    throw error
  }
}

async function describeProgram(python: string, { env, modules }: Probe): Promise<string> {
  const parts = [python, env['VIRTUAL_ENV'], env['PYTHONPATH'], env['LD_LIBRARY_PATH'], env['PYTHONHOME'], ...modules]
  try {
    const { mtimeMs, ino } = await stat(python)
    return [...parts, await realpath(python), mtimeMs, ino].join('\0')
  } catch (cause) {
    throw new ConchError('UNAVAILABLE', `there is no interpreter '${python}'`, { cause })
  }
}

async function askInterpreter(python: string, { env, modules }: Probe): Promise<Interpreter> {
  const command = { program: python, args: ['-c', PROBE, ...modules], directory: '/', env, signal: undefined }
  const { code, output, lines } = await runCommand({ ...command, timeoutMs: PROBE_MS })
  const last = output.trimEnd().split('\n').at(-1) ?? ''
  if (code !== 0 || !last.startsWith('[')) {
    throw new ConchError(
      'UNAVAILABLE',
      `the interpreter does not run: ${lines.at(-1) ?? `it exited with code ${code}`}`,
    )
  }
  const [path, version, build, hasNumpy, found] = JSON.parse(last) as [string, string, string, boolean, string[]]
  return { path: path === '' ? python : path, version, build, hasNumpy, modules: found }
}

/** Programs of these names on the PATH, in order; a name with a slash is itself. */
export async function findPrograms(
  names: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const directories = listProgramDirectories(env)
  const paths = names.flatMap((name) => (isAbsolute(name) ? [name] : directories.map((place) => join(place, name))))
  const found = await Promise.all(paths.map(isProgram))
  return paths.filter((_, index) => found[index])
}

async function isProgram(path: string): Promise<boolean> {
  try {
    const { mode, isFile } = await stat(path).then((facts) => ({ mode: facts.mode, isFile: facts.isFile() }))
    return isFile && (mode & 0o111) !== 0
  } catch {
    return false
  }
}
