import { ConchError, HTTP_STATUS } from '@conch/protocol'
import type { Services } from '../context.ts'
import { hidePaths, readPythonFailure } from '../python-failure.ts'
import type { InferError } from './playground.schema.ts'

interface Asked {
  readonly model: string
  readonly version?: string | undefined
}

/** A refusal in the words that the HTTP port would use; for an exception of a Python model with the place in its code. */
export async function explainFailure(
  { engine, log, repositories }: Services,
  { model, version }: Asked,
  error: unknown,
): Promise<InferError> {
  const known =
    error instanceof ConchError
      ? error
      : new ConchError('INTERNAL', 'the request failed inside the server; its log says why')
  if (known !== error) log.write('error', `playground: ${model}: ${String(error)}`)
  const folder = await repositories.find(model)
  const { code, message } = known
  const python = await readPythonFailure(message, folder, version ?? newestReady(engine, model))
  const told = { code, message: hidePaths(message, folder), httpStatus: HTTP_STATUS[code] }
  return python === undefined ? told : { ...told, python }
}

function newestReady(engine: Services['engine'], model: string): string {
  try {
    return engine.metadata(model, '').versions.at(-1) ?? ''
  } catch {
    // It was unloaded meanwhile.
    return ''
  }
}
