import { stat } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { ConchError } from '@conch/protocol'
import { runCommand } from './command.ts'
import { findPrograms } from './interpreter.ts'
import type { EnvironmentLog } from './request.ts'

type Variables = Readonly<Record<string, string>>

/** Variables of a shell that mean nothing to its caller. */
const SHELL_ONLY = new Set(['_', 'PS1', 'PWD', 'OLDPWD', 'SHLVL', 'PYTHONHOME'])
const ACTIVATE_MS = 30_000
const DUMP = '. "$1/bin/activate" >&2 && printf "\\0\\0" && env -0'

/** The original's text; `name` stands for the path, which is not the client's matter. */
export async function checkActivate(directory: string, name: string): Promise<void> {
  try {
    await stat(join(directory, 'bin', 'activate'))
  } catch (cause) {
    const text = `Path ${name}/bin/activate does not exist. The Python environment should contain an 'activate' script.`
    throw new ConchError('INTERNAL', text, { cause })
  }
}

/** What a virtual environment needs: it is its interpreter that finds the rest. */
export function activateVenv(directory: string, base: Variables): Record<string, string> {
  const env: Record<string, string> = { ...base }
  delete env['PYTHONHOME']
  env['VIRTUAL_ENV'] = directory
  env['PATH'] = prepend(join(directory, 'bin'), base['PATH'])
  return env
}

/**
 * What a packed environment needs: its libraries are found first, and its own `activate` is run as the original does,
 * since packages put variables of theirs there. Without a shell to run it, only the known variables are set.
 */
export async function activatePacked(
  directory: string,
  options: { readonly base: Variables; readonly log: EnvironmentLog; readonly signal: AbortSignal | undefined },
): Promise<Record<string, string>> {
  const base = activateVenv(directory, options.base)
  const env = { ...base, ...(await runActivate(directory, { ...options, base })) }
  delete env['PYTHONHOME']
  env['VIRTUAL_ENV'] = directory
  if (!(env['PATH'] ?? '').startsWith(join(directory, 'bin'))) env['PATH'] = base['PATH'] ?? ''
  env['LD_LIBRARY_PATH'] = prepend(join(directory, 'lib'), env['LD_LIBRARY_PATH'])
  return env
}

async function runActivate(
  directory: string,
  { base, log, signal }: { base: Variables; log: EnvironmentLog; signal: AbortSignal | undefined },
): Promise<Variables> {
  const [shell] = await findPrograms(['bash'], base)
  if (shell === undefined) return {}
  const args = ['--norc', '--noprofile', '-c', DUMP, 'bash', directory]
  const command = { program: shell, args, directory: '/', env: base, signal, timeoutMs: ACTIVATE_MS }
  const { code, output, lines } = await runCommand(command)
  const start = output.indexOf('\0\0')
  if (code !== 0 || start < 0) {
    log('warning', `bin/activate of the environment failed: ${lines.at(-1) ?? `exit code ${code}`}`)
    return {}
  }
  const pairs = output.slice(start + 2).split('\0')
  const entries = pairs.map((pair): [string, string] => {
    const equals = pair.indexOf('=')
    return [pair.slice(0, Math.max(equals, 0)), pair.slice(equals + 1)]
  })
  return Object.fromEntries(entries.filter(([name]) => name !== '' && !SHELL_ONLY.has(name)))
}

function prepend(directory: string, list: string | undefined): string {
  return list === undefined || list === '' ? directory : `${directory}${delimiter}${list}`
}
