import { ConchError } from '@conch/protocol'
import type { Backend } from './contract.ts'

/** Name → how to get it. Imported on first use, ONNX Runtime's at the latest when the engine has started. */
const BACKENDS: Readonly<Record<string, () => Promise<Backend>>> = {
  onnxruntime: async () => (await import('./onnx/backend.ts')).createOnnxBackend(),
  python: async () => (await import('./python/backend.ts')).createPythonBackend(),
  pytorch: async () => (await import('./python/runners.ts')).createRunnerBackend('pytorch'),
  tensorflow: async () => (await import('./python/runners.ts')).createRunnerBackend('tensorflow'),
  fil: async () => (await import('./python/runners.ts')).createRunnerBackend('fil'),
  sklearn: async () => (await import('./python/runners.ts')).createRunnerBackend('sklearn'),
  identity: async () => (await import('./identity/backend.ts')).createIdentityBackend(),
}

/**
 * Finds backends by name, each created once; `directory` holds custom ones, for names that are not built in. A backend
 * whose native library is missing or broken fails the models that ask for it, with the reason, and is tried again by the
 * next one.
 */
export function createBackendRegistry(directory?: string): (name: string) => Promise<Backend> {
  const opened = new Map<string, Promise<Backend>>()
  return (name) => {
    const known = opened.get(name)
    if (known !== undefined) return known
    const opening = open(name, directory).catch((cause: unknown) => {
      opened.delete(name)
      throw cause instanceof ConchError ? cause : refuseBroken(name, cause)
    })
    opened.set(name, opening)
    return opening
  }
}

async function open(name: string, directory: string | undefined): Promise<Backend> {
  const create = Object.hasOwn(BACKENDS, name) ? BACKENDS[name] : undefined
  if (create !== undefined) return create()
  const custom =
    directory === undefined ? undefined : await (await import('./module/open.ts')).openModule(directory, name)
  if (custom === undefined) throw refuseUnknown(name)
  return custom
}

/** Names that a config may use. */
export function listBackends(): readonly string[] {
  return Object.keys(BACKENDS)
}

function refuseUnknown(name: string): ConchError {
  const text = `unable to find backend library for backend '${name}', try specifying runtime on the model configuration.`
  return new ConchError('INVALID_ARG', `${text} This build has: ${listBackends().join(', ')}`)
}

function refuseBroken(name: string, cause: unknown): ConchError {
  return new ConchError('INTERNAL', `unable to load backend library for backend '${name}'`, { cause })
}
