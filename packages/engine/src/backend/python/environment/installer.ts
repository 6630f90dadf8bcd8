import { dirname, join } from 'node:path'
import { runCommand } from './command.ts'
import { findPrograms } from './interpreter.ts'
import type { Interpreter } from './interpreter.ts'

export interface Step {
  /** What an error calls it. */
  readonly what: string
  readonly program: string
  readonly args: readonly string[]
}

/** Who makes an environment in one directory. */
export interface Installer {
  readonly name: 'pip' | 'uv'
  readonly venv: Step
  /** Packages, or `-r` and a file. */
  readonly install: (...wanted: readonly string[]) => Step
  /** All of a lock file; pip cannot. */
  readonly sync: ((lock: string) => Step) | undefined
}

export interface InstallerFacts {
  readonly interpreter: Interpreter
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal | undefined
}

/** uv where it is on the PATH, else pip: the interpreter's own if it is new enough, since giving each environment one takes seconds. */
export async function chooseInstaller(directory: string, facts: InstallerFacts): Promise<Installer> {
  const python = join(directory, 'bin', 'python')
  const [uv] = await findPrograms(['uv'], facts.env)
  if (uv !== undefined) return useUv(uv, python, facts)
  const program = facts.interpreter.path
  if (await canInstallElsewhere(facts)) {
    return usePip({ program, args: ['-m', 'venv', '--without-pip', directory] }, [program, '--python', python])
  }
  return usePip({ program, args: ['-m', 'venv', directory] }, [python])
}

function useUv(uv: string, python: string, { interpreter }: InstallerFacts): Installer {
  const directory = dirname(dirname(python))
  return {
    name: 'uv',
    venv: { what: 'uv venv', program: uv, args: ['venv', '--allow-existing', '--python', interpreter.path, directory] },
    install: (...wanted) => ({
      what: 'uv pip install',
      program: uv,
      args: ['pip', 'install', '--python', python, ...wanted],
    }),
    // The lock is taken as it is, and the model's directory is not written to.
    sync: (lock) => {
      const project = ['--project', dirname(lock), '--frozen', '--no-install-project', '--no-dev']
      return { what: 'uv sync', program: uv, args: ['sync', ...project, '--python', python] }
    },
  }
}

function usePip(venv: Omit<Step, 'what'>, [program, ...options]: readonly [string, ...string[]]): Installer {
  return {
    name: 'pip',
    venv: { what: 'python -m venv', ...venv },
    install: (...wanted) => ({
      what: 'pip install',
      program,
      args: ['-m', 'pip', ...options, 'install', ...QUIET_PIP, ...wanted],
    }),
    sync: undefined,
  }
}

export const QUIET_PIP = ['--no-input', '--progress-bar', 'off', '--disable-pip-version-check'] as const

/** `pip --python` is there since 22.3. */
async function canInstallElsewhere({ interpreter, env, signal }: InstallerFacts): Promise<boolean> {
  const command = { program: interpreter.path, args: ['-m', 'pip', '--version'], directory: '/', env, signal }
  const { code, output } = await runCommand(command)
  const [, major = '0', minor = '0'] = /^pip (\d+)\.(\d+)/.exec(output) ?? []
  return code === 0 && (Number(major) > 22 || (Number(major) === 22 && Number(minor) >= 3))
}
