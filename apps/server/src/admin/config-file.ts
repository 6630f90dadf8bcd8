import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { resolveInside } from './contain.ts'

const MAX_CONFIG_BYTES = 4 * 1_048_576

/** The config file that the engine would choose, and its text; null when there is none or it is too long to be one. */
export async function readConfigFile(
  directory: string,
  configName: string,
): Promise<{ path: string; text: string | null }> {
  const named = configName === '' ? [] : [`configs/${configName}.pbtxt`]
  for (const path of [...named, 'config.pbtxt']) {
    const real = await resolveInside(directory, path).catch(() => undefined)
    if (real === undefined) continue
    const { size } = await stat(real)
    return { path, text: size > MAX_CONFIG_BYTES ? null : await readFile(real, 'utf8') }
  }
  return { path: 'config.pbtxt', text: null }
}

/** Changes with the text; '' when there is none. */
export function hashText(text: string | null): string {
  return text === null ? '' : createHash('sha256').update(text).digest('hex').slice(0, 32)
}
