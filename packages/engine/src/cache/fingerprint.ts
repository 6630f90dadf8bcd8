import { createHash } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { configToJson } from '@conch/protocol'
import type { ModelConfig } from '@conch/protocol'

/** What a version is made of. */
export interface Made {
  readonly model: string
  readonly version: string
  readonly config: ModelConfig
  readonly modelDirectory: string
  readonly versionDirectory: string
}

/**
 * Names a version by what it is: its config, and the sizes and times of its files. Servers on the same files agree; a
 * changed file or setting makes another name.
 */
export async function fingerprint({ model, version, config, ...places }: Made): Promise<string> {
  const whole = createHash('sha256').update(JSON.stringify([model, version, configToJson(config)]))
  const own = await listFiles(places.versionDirectory, true)
  const beside = await listFiles(places.modelDirectory, false)
  for (const line of [...own, '', ...beside]) whole.update(`${line}\n`)
  return whole.digest('base64url').slice(0, 22)
}

/** A line a file, sorted; a directory that cannot be read (ensembles have none) holds nothing. */
async function listFiles(directory: string, recursive: boolean): Promise<readonly string[]> {
  const names = await readdir(directory, { recursive }).catch(() => [])
  const lines: string[] = []
  for (const name of names.toSorted((a, b) => (a < b ? -1 : 1))) {
    const found = await stat(join(directory, name)).catch(() => undefined)
    if (found?.isFile() === true) lines.push(`${name} ${found.size} ${found.mtimeMs}`)
  }
  return lines
}
