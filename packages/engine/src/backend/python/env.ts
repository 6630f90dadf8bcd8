import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where the package is that runs in the child. */
const PACKAGE = fileURLToPath(new URL('../../../python', import.meta.url))

/** The environment of a child: the server's own, what the model's Python needs, and the package that it runs. */
export function childEnvironment(change: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env, ...change }
  for (const [name, value] of Object.entries(change)) if (value === '') delete env[name]
  const path = env['PYTHONPATH'] ?? ''
  env['PYTHONPATH'] = path === '' ? PACKAGE : `${PACKAGE}${delimiter}${path}`
  // What a model prints is in the log when it happens, and not lost when the process is killed.
  env['PYTHONUNBUFFERED'] ??= '1'
  return env
}
