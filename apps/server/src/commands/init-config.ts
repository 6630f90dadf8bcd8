import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createEngine } from '@conch/engine'
import { ConchError, parsePbtxt, printPbtxt } from '@conch/protocol'
import type { ModelConfig } from '@conch/protocol'

/** Proposes a config.pbtxt from what a model's files say: the model is loaded once, as a server would. */
export async function initConfig(paths: readonly string[], flags: ReadonlySet<string>): Promise<number> {
  let failed = 0
  for (const given of paths) {
    const directory = path.resolve(given)
    const file = path.join(directory, 'config.pbtxt')
    if (existsSync(file) && !flags.has('--force') && !flags.has('--print')) {
      console.error(`${file}: exists already; --force replaces it, --print shows a proposal`)
      failed += 1
      continue
    }
    try {
      const text = printPbtxt(shorten(await loadConfig(directory)))
      if (flags.has('--print')) process.stdout.write(text)
      else await writeFile(file, text)
      if (!flags.has('--print')) console.log(file)
    } catch (error) {
      console.error(`${given}: error: ${error instanceof Error ? error.message : String(error)}`)
      failed += 1
    }
  }
  return failed === 0 ? 0 : 1
}

async function loadConfig(directory: string): Promise<ModelConfig> {
  const model = path.basename(directory)
  const engine = createEngine({
    repositories: [path.dirname(directory)],
    controlMode: 'explicit',
    startupModels: [model],
    pollSeconds: 0,
    strictReadiness: true,
    autoComplete: true,
    modelConfigName: '',
    loadThreads: 1,
    loadRetries: 0,
    namespacing: false,
    exitTimeoutSeconds: 5,
    backendConfig: {},
    metrics: { enabled: false, cpu: false, gpu: false, intervalMs: 2000, config: {} },
    log: { verbose: 0, write: () => undefined },
  })
  try {
    if (!(await engine.start())) await explain(engine.index(false), model)
    return engine.config(model, '')
  } finally {
    await engine.stop()
  }
}

async function explain(index: Promise<readonly { name: string; reason: string }[]>, model: string): Promise<never> {
  const entry = (await index).find(({ name }) => name === model)
  throw new ConchError('INVALID_ARG', entry?.reason ?? 'the model cannot be loaded')
}

/** Only what a person would write; everything else is a default that the server fills in again. */
function shorten(config: ModelConfig): ModelConfig {
  const { name, backend, max_batch_size, input, output } = config
  const platform = backend === '' ? config.platform : ''
  return { ...parsePbtxt('').config, name, backend, platform, max_batch_size, input, output }
}
