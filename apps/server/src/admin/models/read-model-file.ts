import { open } from 'node:fs/promises'
import { ConchError } from '@conch/protocol'
import { resolveModelFile } from '../model-files.ts'
import type { Services } from '../context.ts'

/** Bytes of a file that is shown; bigger ones are weights, not text. */
const LONGEST = 1_048_576

interface Input {
  readonly model: string
  readonly path: string
}

/** Labels, samples, READMEs: text only. */
export async function readModelFile({ repositories }: Services, { model, path }: Input): Promise<string> {
  const folder = await repositories.get(model)
  const file = await open(await resolveModelFile(folder, path), 'r')
  try {
    const stats = await file.stat()
    if (!stats.isFile()) throw new ConchError('NOT_FOUND', `there is no file '${path}'`)
    if (stats.size > LONGEST)
      throw new ConchError('INVALID_ARG', `'${path}' has ${stats.size} bytes; 1 MiB can be shown`)
    const bytes = await file.readFile()
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) throw new ConchError('INVALID_ARG', `'${path}' is not text`)
    throw error
  } finally {
    await file.close()
  }
}
