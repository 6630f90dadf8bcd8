import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { completeConfig, parsePbtxt } from '@conch/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeDirectory } from '../../testing.ts'
import type { BackendContext } from '../contract.ts'
import { createRunnerBackend } from './runners.ts'

let place: Awaited<ReturnType<typeof makeDirectory>>
let lines: string[] = []
beforeEach(async () => {
  place = await makeDirectory({ 'm/1/': '' })
  lines = []
})
afterEach(() => place.remove())

/** An interpreter that has numpy and nothing else; it is asked, and never started. */
async function makeContext(): Promise<BackendContext> {
  const python = join(place.directory, 'python')
  await writeFile(python, `#!/bin/sh\necho '["${python}", "3.11.7", "b", true, []]'\n`, { mode: 0o755 })
  return {
    modelDirectory: join(place.directory, 'm'),
    versionDirectory: join(place.directory, 'm', '1'),
    version: '1',
    settings: { 'python-executable': python },
    log: (level, text) => void lines.push(`${level} ${text}`),
    // Nothing is asked of the engine before a process runs.
    engine: {} as BackendContext['engine'],
  }
}
function readConfig(text: string, files: readonly string[]) {
  const facts = { directoryName: 'm', versionFiles: files, gpus: [] }
  return completeConfig(parsePbtxt(text).config, { ...facts, preferredGroup: { kind: 'KIND_CPU', count: 1 } })
}

const RUNS = [
  ['pytorch', 'platform: "pytorch_libtorch"', 'model.pt', 'PyTorch', 'torch'],
  ['pytorch', 'backend: "pytorch"', 'model.pt2', 'PyTorch', 'torch'],
  ['pytorch', '', 'model.pt', 'PyTorch', 'torch'],
  ['tensorflow', 'platform: "tensorflow_savedmodel"', 'model.savedmodel', 'TensorFlow', 'tensorflow'],
  ['tensorflow', 'platform: "tensorflow_graphdef"', 'model.graphdef', 'TensorFlow', 'tensorflow'],
  ['fil', 'backend: "fil"', 'xgboost.json', 'XGBoost', 'xgboost'],
  ['fil', 'backend: "fil"', 'model.txt', 'LightGBM', 'lightgbm'],
  ['sklearn', 'backend: "sklearn"', 'model.joblib', 'scikit-learn', 'scikit-learn'],
] as const

it.each(RUNS)('%s with %j and %s needs %s', async (name, text, file, title, install) => {
  await place.put(`m/1/${file}`, 'x')
  const config = readConfig(text, [file])
  expect(config.backend).toBe(name)
  const failed = createRunnerBackend(name).load(config, await makeContext())
  const said = `this model needs ${title}, which the server's Python 3.11.7 does not have: python3 -m pip install ${install}, or write`
  await expect(failed).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  await expect(failed).rejects.toThrow(said)
  await expect(failed).rejects.not.toThrow('\n')
})

it('says which file is not there', async () => {
  const context = await makeContext()
  const named = readConfig('platform: "pytorch_libtorch"', [])
  await expect(createRunnerBackend('pytorch').load(named, context)).rejects.toThrow(
    "unable to find 'm/1/model.pt' for model 'm'",
  )
  await expect(createRunnerBackend('fil').load(readConfig('backend: "fil"', []), context)).rejects.toThrow(
    "unable to find any of xgboost.json, xgboost.ubj, xgboost.model, model.txt for model 'm'",
  )
})

it('completes no configuration for PyTorch, and says so', async () => {
  await place.put('m/1/model.pt', 'x')
  const config = readConfig('platform: "pytorch_libtorch"', ['model.pt'])
  expect(await createRunnerBackend('pytorch').complete(config, await makeContext())).toBe(config)
  expect(lines).toEqual(["info skipping model configuration auto-complete for 'm': not supported for pytorch backend"])
})
