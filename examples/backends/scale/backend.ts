// A backend in TypeScript: every FP32 input times the model's parameter "factor". See docs/custom-backends.md.
import type { BackendInstance, Batch, CustomBackend } from '@conch/engine'
import type { ModelConfig, Tensor } from '@conch/protocol'

export function createBackend(): CustomBackend {
  return {
    name: 'scale',
    // Called when a version is loaded: check the config, read files from context.versionDirectory.
    load(config, context) {
      const factor = readFactor(config)
      context.log('info', `scaling by ${factor}`)
      // Called once per instance of the model's instance groups.
      return { createInstance: () => createInstance(config, factor) }
    },
  }
}

/** Errors with one of Conch's codes reach the client as they are; others as INTERNAL, with file and line. */
function readFactor(config: ModelConfig): number {
  const factor = Number(config.parameters['factor']?.string_value ?? '1')
  if (Number.isFinite(factor)) return factor
  throw Object.assign(new Error('parameter "factor" must be a number'), { code: 'INVALID_ARG' })
}

function createInstance(config: ModelConfig, factor: number): Pick<BackendInstance, 'execute'> {
  const pairs = config.input.map((input, i) => [input.name, config.output[i]?.name ?? ''] as const)
  return {
    // One answer per request, in order. May return a promise; may throw when the whole batch failed.
    execute(batch: Batch) {
      batch.computeInputEnd = performance.now()
      const answers = batch.requests.map(({ request }) => {
        const outputs: Tensor[] = []
        for (const [from, to] of pairs) {
          const input = request.inputs.find(({ name }) => name === from)
          if (input !== undefined && batch.outputs.has(to)) outputs.push({ ...input, name: to, data: scale(input, factor) })
        }
        return { outputs }
      })
      batch.computeOutputStart = performance.now()
      return answers
    },
  }
}

/** A tensor's data are bytes, little-endian, maybe unaligned; they may be kept or passed on, never written to. */
function scale({ datatype, data }: Tensor, factor: number): Uint8Array {
  if (datatype !== 'FP32') return data
  const values = new Float32Array(data.slice().buffer)
  return new Uint8Array(values.map((value) => value * factor).buffer)
}
