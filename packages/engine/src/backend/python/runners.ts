import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ConchError } from '@conch/protocol'
import type { ModelConfig } from '@conch/protocol'
import type { Backend, BackendContext, BackendModel } from '../contract.ts'
import { createPythonBackend } from './backend.ts'
import type { NeededModule } from './environment/request.ts'
import { checkName } from './locate-model.ts'

/** A framework without a native backend: a program of ours runs its models, on the process of Python models. */
interface Runner {
  /** Below packages/engine/python/runners. */
  readonly script: string
  /** Names that a model's file may have, in the order in which they are looked for. */
  readonly files: readonly string[]
  /** What the model's file cannot be read without. */
  readonly needs: (file: string) => readonly NeededModule[]
  /** Its models' configurations are written by people only, as with the original. */
  readonly completesNothing: boolean
}

const TORCH = { module: 'torch', install: 'torch', title: 'PyTorch' }
const TENSORFLOW = { module: 'tensorflow', install: 'tensorflow', title: 'TensorFlow' }
const SCIKIT_LEARN = { module: 'sklearn', install: 'scikit-learn', title: 'scikit-learn' }
const SKOPS = { module: 'skops', install: 'skops', title: 'skops' }
const XGBOOST = { module: 'xgboost', install: 'xgboost', title: 'XGBoost' }
const LIGHTGBM = { module: 'lightgbm', install: 'lightgbm', title: 'LightGBM' }

const RUNNERS = {
  pytorch: {
    script: 'pytorch.py',
    files: ['model.pt', 'model.pt2', 'model.py'],
    needs: () => [TORCH],
    completesNothing: true,
  },
  tensorflow: {
    script: 'savedmodel.py',
    files: ['model.savedmodel', 'model.graphdef'],
    needs: () => [TENSORFLOW],
    completesNothing: false,
  },
  fil: {
    script: 'forest.py',
    files: ['xgboost.json', 'xgboost.ubj', 'xgboost.model', 'model.txt'],
    needs: (file) => [file.endsWith('.txt') ? LIGHTGBM : XGBOOST],
    completesNothing: false,
  },
  sklearn: {
    script: 'estimator.py',
    files: ['model.skops', 'model.joblib', 'model.pkl', 'model.pickle'],
    needs: (file) => (file.endsWith('.skops') ? [SCIKIT_LEARN, SKOPS] : [SCIKIT_LEARN]),
    completesNothing: true,
  },
} as const satisfies Readonly<Record<string, Runner>>

const SCRIPTS = fileURLToPath(new URL('../../../python/runners', import.meta.url))

export function createRunnerBackend(name: keyof typeof RUNNERS): Backend {
  const runner: Runner = RUNNERS[name]
  const backend = createPythonBackend({
    name,
    locate: async (config, context) => {
      checkName(config.name)
      await findModelFile(runner, config, context)
      return join(SCRIPTS, runner.script)
    },
    listNeeds: async (config, context) => runner.needs(await findModelFile(runner, config, context)),
  })
  return {
    ...backend,
    complete: async (config, context) => {
      if (!runner.completesNothing) return plainly(() => backend.complete(config, context))
      const text = `skipping model configuration auto-complete for '${config.name}': not supported for ${name} backend`
      context.log('info', text)
      return Promise.resolve(config)
    },
    load: async (config, context) => {
      const model = await backend.load(config, context)
      return { ...model, createInstance: (spec) => plainly(() => model.createInstance(spec)) } satisfies BackendModel
    },
  }
}

/** The file that the config names, or the first that is there. */
async function findModelFile(runner: Runner, config: ModelConfig, context: BackendContext): Promise<string> {
  const { default_model_filename: named, runtime } = config
  const isOwnModule = runtime === 'model.py'
  const names = named === '' || isOwnModule ? [...new Set([named, ...runner.files])] : [named]
  for (const name of names) {
    if (name !== '' && (await isThere(join(context.versionDirectory, name)))) return name
  }
  const shown = named === '' ? `any of ${runner.files.join(', ')}` : `'${config.name}/${context.version}/${named}'`
  throw new ConchError('UNAVAILABLE', `unable to find ${shown} for model '${config.name}'`)
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/** What a runner refuses is no exception in somebody's code: only what it says is told, not where. */
async function plainly<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ConchError)) throw error
    const [, text] = /^LoadError: ([^]*?)(?:\n\nAt:\n[^]*)?$/.exec(error.message) ?? []
    throw text === undefined ? error : new ConchError('INTERNAL', text.trimEnd(), { cause: error })
  }
}
