import { readFile, realpath, stat } from 'node:fs/promises'
import { isAbsolute, relative } from 'node:path'
import { ConchError } from '@conch/protocol'
import type { ModelConfig } from '@conch/protocol'
import type { VersionPlan } from './contract.ts'
import { resolveInside } from './contain.ts'
import { explainIo } from './explain-io.ts'

/** Files with labels longer than this are no labels. */
const MAX_LABEL_BYTES = 32 * 1024 * 1024

/** Every file name that a config carries, with the directory it is relative to. */
function namedFiles(config: ModelConfig): { key: string; name: string; folder: string }[] {
  const files = [{ key: 'default_model_filename', name: config.default_model_filename, folder: 'version' }]
  for (const [capability, name] of Object.entries(config.cc_model_filenames)) {
    files.push({ key: `cc_model_filenames["${capability}"]`, name, folder: 'version' })
  }
  for (const sample of config.model_warmup) {
    for (const [input, { input_data_file: name = '' }] of Object.entries(sample.inputs)) {
      files.push({ key: `model_warmup["${sample.name}"].inputs["${input}"].input_data_file`, name, folder: 'warmup' })
    }
  }
  for (const state of config.sequence_batching?.state ?? []) {
    for (const { data_file: name = '' } of state.initial_state) {
      files.push({ key: `state["${state.input_name}"].initial_state.data_file`, name, folder: 'initial_state' })
    }
  }
  return files
}

/**
 * Refuses file names in a config that leave the model's directory, by dots or by links. Missing files are not its matter.
 * Operator libraries are code: they may also lie below `libraries`, a directory that only the command line names.
 */
export async function checkNamedFiles(config: ModelConfig, plan: VersionPlan, libraries?: string): Promise<void> {
  for (const { key, name, folder } of namedFiles(config)) {
    if (name === '') continue
    const base = folder === 'version' ? plan.versionDirectory : `${plan.modelDirectory}/${folder}`
    await check(plan, key, () => resolveInside(plan.root, base, name))
  }
  for (const [index, name] of (config.model_operations?.op_library_filename ?? []).entries()) {
    await check(plan, `model_operations.op_library_filename[${index}]`, async () =>
      libraries !== undefined && isAbsolute(name)
        ? resolveInside(await realpath(libraries), libraries, relative(libraries, name))
        : resolveInside(plan.root, plan.modelDirectory, name),
    )
  }
}

async function check(plan: VersionPlan, key: string, resolve: () => Promise<string>): Promise<void> {
  try {
    await resolve()
  } catch (cause) {
    if (!(cause instanceof ConchError)) return
    throw new ConchError('INVALID_ARG', `${key} of model '${plan.model}': ${cause.message}`, { cause })
  }
}

/** Which of the label files that a config names are there; for checks that cannot wait. */
export async function findLabelFiles(config: ModelConfig, plan: VersionPlan): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  for (const { label_filename: name } of config.output) {
    if (name === '') continue
    const real = await resolveInside(plan.root, plan.modelDirectory, name).catch(() => undefined)
    if (real !== undefined) found.add(name)
  }
  return found
}

/** Labels per output: line n names class n, lines are not trimmed (repository.md §1.3). */
export async function readLabels(
  config: ModelConfig,
  plan: VersionPlan,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const labels = new Map<string, readonly string[]>()
  for (const { name, label_filename: file } of config.output) {
    if (file === '') continue
    try {
      const real = await resolveInside(plan.root, plan.modelDirectory, file)
      const { size } = await stat(real)
      if (size > MAX_LABEL_BYTES) throw new ConchError('INVALID_ARG', `label file ${file} has ${size} bytes`)
      const lines = (await readFile(real, 'utf8')).split('\n')
      if (lines.at(-1) === '') lines.pop()
      labels.set(name, lines)
    } catch (cause) {
      throw cause instanceof ConchError ? cause : explainIo(cause, 'open text file for read', `${plan.model}/${file}`)
    }
  }
  return labels
}
