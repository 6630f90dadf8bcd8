import { ConchError } from '@conch/protocol'
import type { ModelConfig } from '@conch/protocol'

/** Backends that are one library and no Python program. */
const NATIVE = new Set(['identity', 'onnxruntime'])

/**
 * `runtime` names the file that the original would load as the backend. Nothing is loaded by it here: the usual names
 * are what this build has, any other is told as the original tells a file that is not there (config §4). Its list of
 * searched directories is given by their names alone: clients see it.
 */
export function checkRuntime({ name, backend, runtime }: ModelConfig, version: string): void {
  const usual = [`libtriton_${backend}.so`, ...(NATIVE.has(backend) ? [] : ['model.py'])]
  if (runtime === '' || usual.includes(runtime)) return
  const searched = [`${name}/${version}`, name, backend].map((place) => `'${place}' `).join('')
  const text = `unable to find backend library '${runtime}' for model '${name}', searched: ${searched}`
  const fix = `(backends are built in: remove 'runtime', or set it to ${usual.map((one) => `'${one}'`).join(' or ')})`
  throw new ConchError('INVALID_ARG', text + fix)
}
