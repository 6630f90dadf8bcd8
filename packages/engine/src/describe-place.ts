import type { BackendContext, EngineCalls } from './backend/contract.ts'
import type { Log } from './observe/contract.ts'
import type { VersionPlan } from './repository/contract.ts'

interface PlaceParts {
  readonly log: Log
  /** Backend ('' = global) → setting → value. */
  readonly settings: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** What a model of that name may ask for. */
  readonly calls: (model: string) => EngineCalls
}

/** `--backend-config=onnxruntime,op-library-directory=DIR` (superset): where operator libraries may lie outside the models. */
export const LIBRARIES = 'op-library-directory'

export function noteTo(log: Log): (text: string) => void {
  return (text) => log.write('info', text)
}

/** What a backend is told about a version. */
export function describePlace(plan: VersionPlan, parts: PlaceParts): BackendContext {
  const { modelDirectory, versionDirectory, root, version } = plan
  return {
    modelDirectory,
    versionDirectory,
    root,
    version,
    settings: { ...parts.settings[''], ...parts.settings[plan.config.backend] },
    log: (level, text) => parts.log.write(level, text, { model: plan.model, version }),
    engine: parts.calls(plan.model),
  }
}
