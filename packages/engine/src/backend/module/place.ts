import type { BackendContext } from '../contract.ts'
import type { Place } from './bodies.ts'

/** What crosses to the child of where a version lives. */
export function describePlace({ modelDirectory, versionDirectory, version, settings }: BackendContext): Place {
  return { modelDirectory, versionDirectory, version, settings }
}
