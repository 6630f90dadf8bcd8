import { ConchError } from '@conch/protocol'
import type { ModelConfig } from '@conch/protocol'
import type { Backend, BackendContext, BackendModel, InstanceSpec } from '../contract.ts'
import { mayComplete, readCompleted } from './complete-config.ts'
import { describeArgs, describeModel } from './describe-model.ts'
import { prepareEnvironment } from './environment/prepare.ts'
import type { NeededModule, PreparedEnvironment } from './environment/request.ts'
import { PythonInstance } from './instance.ts'
import { checkName, locateModel } from './locate-model.ts'
import { ModelCalls } from './model-calls.ts'
import { readPythonSettings } from './settings.ts'
import type { PythonSettings } from './settings.ts'
import { startWorker } from './start-worker.ts'
import { Worker } from './worker.ts'
import type { WorkerPlan } from './worker.ts'

/** Where the program of a model comes from: its own directory, or a backend that is written in Python. */
export interface ProgramSource {
  readonly name: string
  /** The file with the class; throws for a model that it cannot run. */
  readonly locate: (config: ModelConfig, context: BackendContext) => Promise<string>
  /** What the interpreter must have besides numpy. */
  readonly listNeeds: (config: ModelConfig, context: BackendContext) => Promise<readonly NeededModule[]>
}

const OWN_PROGRAM: ProgramSource = { name: 'python', locate: locateModel, listNeeds: () => Promise.resolve([]) }

/** Models in Python: one child process per instance. */
export function createPythonBackend(source: ProgramSource = OWN_PROGRAM): Backend {
  return {
    name: source.name,
    preferredGroup: { kind: 'KIND_CPU', count: 1 },
    complete: (config, context) => completeConfig(config, { ...context, source }),
    load: (config, context) => loadModel(config, { ...context, source }),
  }
}

type PythonContext = BackendContext & { readonly source: ProgramSource }

/** Runs the model's own completion in a process that is there for nothing else. */
async function completeConfig(config: ModelConfig, context: PythonContext): Promise<ModelConfig> {
  const settings = readPythonSettings(context.settings)
  const file = await context.source.locate(config, context)
  if (!(await mayComplete(file))) return config
  const environment = await prepare(config, context)
  const spec = { name: config.name, kind: 'KIND_CPU', deviceId: 0, profiles: [] } as const
  const plan = planWorker(config, context, { settings, environment, spec })
  const args = describeArgs(config, context, spec)
  const about = JSON.stringify({ ...describeModel(file, config, context), name: config.name, args })
  const header = `{"t":"complete","config":${args.model_config},${about.slice(1)}`
  const calls = new ModelCalls(context.engine, config.name)
  const worker = new Worker({ ...plan, onCall: (frame, call) => calls.receive(frame, call) })
  const begun = await startWorker(worker, { instance: plan.instance, timeout: settings.stubTimeout, header }).finally(
    () => calls.close(),
  )
  worker.kill('it has done its work')
  await worker.ended
  return begun.t === 'completed' ? readCompleted(begun.config, config.name) : config
}

async function loadModel(config: ModelConfig, context: PythonContext): Promise<BackendModel> {
  const settings = readPythonSettings(context.settings)
  checkInputPlace(config)
  const file = await context.source.locate(config, context)
  const environment = await prepare(config, context)
  return {
    createInstance: (spec) => createInstance({ config, context, settings, file, environment }, spec),
    close: () => Promise.resolve(),
  }
}

/** Tensors are in the processor's memory whatever it says; a word that it does not know is refused as in the original. */
function checkInputPlace({ parameters }: ModelConfig): void {
  const value = parameters['FORCE_CPU_ONLY_INPUT_TENSORS']?.string_value
  if (value === undefined || value === 'yes' || value === 'no') return
  throw new ConchError('UNSUPPORTED', `Incorrect value for FORCE_CPU_ONLY_INPUT_TENSORS: ${value}'`)
}

interface LoadedModel {
  readonly config: ModelConfig
  readonly context: BackendContext
  readonly settings: PythonSettings
  readonly file: string
  readonly environment: PreparedEnvironment
}

/** The interpreter that the model runs on; made first where the model brings its own packages. */
async function prepare(config: ModelConfig, context: PythonContext): Promise<PreparedEnvironment> {
  const { modelDirectory, versionDirectory, root, settings, log } = context
  return prepareEnvironment({
    modelDirectory,
    root,
    versionDirectory,
    settings,
    log,
    parameters: config.parameters,
    needs: await context.source.listNeeds(config, context),
    signal: undefined,
  })
}

function createInstance(model: LoadedModel, spec: InstanceSpec): Promise<PythonInstance> {
  const { config, context, settings, file, environment } = model
  checkName(spec.name)
  const about = { ...describeModel(file, config, context), name: spec.name, args: describeArgs(config, context, spec) }
  return PythonInstance.open({
    worker: planWorker(config, context, { settings, environment, spec }),
    engine: context.engine,
    init: JSON.stringify({ t: 'init', ...about }),
    stubTimeout: settings.stubTimeout,
    executionTimeout: readExecutionTimeout(config) ?? settings.executionTimeout,
  })
}

interface WorkerFacts {
  readonly settings: PythonSettings
  readonly environment: PreparedEnvironment
  readonly spec: InstanceSpec
}

function planWorker(config: ModelConfig, context: BackendContext, facts: WorkerFacts): Omit<WorkerPlan, 'onCall'> {
  const { settings, environment, spec } = facts
  return {
    model: config.name,
    version: context.version,
    instance: spec.name,
    decoupled: config.model_transaction_policy?.decoupled === true,
    inputs: config.input.map(({ name }) => name),
    outputs: new Set(config.output.map(({ name }) => name)),
    python: environment.python,
    env: environment.env,
    memory: { size: settings.memorySize, growth: settings.memoryGrowth },
    log: context.log,
  }
}

/** Superset: `parameters: { key: "EXECUTION_TIMEOUT_MS" value: { string_value: "2000" } }`; milliseconds. */
function readExecutionTimeout(config: ModelConfig): number | undefined {
  const text = config.parameters['EXECUTION_TIMEOUT_MS']?.string_value
  const value = Number(text)
  return text !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}
