import { completeInstanceGroups, normaliseConfig } from '@conch/protocol'
import type { ModelConfig } from '@conch/protocol'
import type { Backend, BackendContext } from './backend/contract.ts'
import { complain } from './configs.ts'
import { LoadedVersion } from './loaded-version.ts'
import type { Loaded } from './loaded-version.ts'
import { checkNamedFiles, findLabelFiles, readLabels } from './model-files.ts'
import type { Log } from './observe/contract.ts'
import type { Metrics } from './observe/metrics.ts'
import type { VersionBuilder, VersionPlan } from './repository/contract.ts'
import { checkSteps } from './schedule/ensemble/check-steps.ts'
import { buildGraph } from './schedule/ensemble/graph.ts'

export interface ModelParts {
  /** Throws the original's text for a backend that there is not. */
  readonly findBackend: (name: string) => Promise<Backend>
  /** The version that runs a step of an ensemble. */
  readonly findStep: (model: string, version: string) => LoadedVersion
  readonly metrics: Metrics
  readonly log: Log
  /** Backend ('' = global) → setting → value. */
  readonly settings: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly autoComplete: boolean
  /** Ids of the GPUs that may be used. */
  readonly gpus: readonly number[]
}

/** Builds one loaded version: backend, instances, schedule. */
export function createVersionBuilder(parts: ModelParts): VersionBuilder<LoadedVersion> {
  return {
    build: async (plan) => {
      const started = performance.now()
      const ensemble = plan.config.platform === 'ensemble'
      const version = ensemble ? await buildEnsemble(plan, parts) : await buildVersion(plan, parts)
      version.reporter.loaded(ensemble ? 0 : (performance.now() - started) / 1_000)
      return version
    },
    update: (served, { config: polled, written }) =>
      served.updateInstances(polled, (config) => {
        const complete = served.completeGroups(config, parts.gpus)
        complain(complete, written, { strictIo: false, gpus: parts.gpus, note: noteTo(parts.log) })
        return complete
      }),
    stepsOf: (config) => buildGraph(config).steps,
    checkSteps: (config, steps) =>
      checkSteps(
        config,
        steps.map((step) => step.config),
      ),
  }
}

async function buildVersion(plan: VersionPlan, parts: ModelParts): Promise<LoadedVersion> {
  const backend = await parts.findBackend(plan.config.backend)
  const context = describePlace(plan, parts)
  const filled = parts.autoComplete ? await backend.complete(plan.config, context) : plan.config
  const facts = { preferredGroup: backend.preferredGroup, gpus: parts.gpus }
  const config = completeInstanceGroups(normaliseConfig(filled), facts)
  await checkLoaded(config, plan, parts)
  const labels = await readLabels(config, plan)
  return openVersion(plan, parts, { config, labels, loaded: { backend, model: await backend.load(config, context) } })
}

/** An ensemble has no files of its own but labels; outputs without some take those of the step that makes them. */
async function buildEnsemble(plan: VersionPlan, parts: ModelParts): Promise<LoadedVersion> {
  const config = normaliseConfig(plan.config)
  await checkLoaded(config, plan, parts)
  const labels = new Map(await readLabels(config, plan))
  for (const { model, version, outputs } of buildGraph(config).steps) {
    const step = parts.findStep(model, version)
    for (const [output, tensor] of outputs) {
      const inherited = step.labels.get(output)
      if (inherited !== undefined && !labels.has(tensor)) labels.set(tensor, inherited)
    }
  }
  return openVersion(plan, parts, { config, labels, loaded: undefined })
}

async function checkLoaded(config: ModelConfig, plan: VersionPlan, parts: ModelParts): Promise<void> {
  const found = await findLabelFiles(config, plan)
  complain(config, plan.written, {
    strictIo: true,
    directoryName: plan.model,
    gpus: parts.gpus,
    files: { directory: plan.model, has: (path) => found.has(path) },
    note: noteTo(parts.log),
  })
  await checkNamedFiles(config, plan)
}

function noteTo(log: Log): (text: string) => void {
  return (text) => log.write('info', text)
}

function describePlace(plan: VersionPlan, parts: ModelParts): BackendContext {
  const { modelDirectory, versionDirectory, version } = plan
  return {
    modelDirectory,
    versionDirectory,
    version,
    settings: { ...parts.settings[''], ...parts.settings[plan.config.backend] },
    log: (level, text) => parts.log.write(level, text),
  }
}

interface Prepared {
  readonly config: ModelConfig
  readonly labels: ReadonlyMap<string, readonly string[]>
  readonly loaded: Loaded | undefined
}

/** Whatever fails from here on, what was loaded is released. */
async function openVersion(plan: VersionPlan, parts: ModelParts, prepared: Prepared): Promise<LoadedVersion> {
  const { model, version: number } = plan
  const reporter = parts.metrics.createReporter({ model, version: number, config: prepared.config })
  let version: LoadedVersion
  try {
    version = new LoadedVersion(plan, { ...prepared, reporter, findStep: parts.findStep })
  } catch (error) {
    reporter.close()
    await prepared.loaded?.model.close()
    throw error
  }
  try {
    await version.open()
    return version
  } catch (error) {
    await version.stop()
    throw error
  }
}
