import { createConfigPart, parsePbtxt, printPbtxt, toConfigDatatype, type ModelConfig } from '@conch/protocol'
import type { PythonSignature, PythonTensor } from './python-form.ts'

/** The config.pbtxt of a model that is written here, with a word on every choice. */
export function writePythonConfig(signature: PythonSignature): string {
  const { inputs, outputs, maxBatchSize, decoupled, instances } = signature
  const blank = parsePbtxt('').config
  const print = (part: Partial<ModelConfig>) => printPbtxt({ ...blank, ...part })
  const group = { ...createConfigPart('ModelInstanceGroup'), kind: 'KIND_CPU', count: instances } as const
  const parts = [
    print({ backend: 'python' }),
    maxBatchSize > 0
      ? `# Up to this many rows may come at once; the dims below leave the batch dimension out.\n${print({ max_batch_size: maxBatchSize, dynamic_batching: createConfigPart('ModelDynamicBatching') })}`
      : '# Requests come as they are sent, and dims are complete.\nmax_batch_size: 0\n',
    `# -1 = any size.\n${print({ input: inputs.map((tensor) => ({ ...createConfigPart('ModelInput'), ...describe(tensor), optional: tensor.optional })) })}`,
    print({ output: outputs.map((tensor) => ({ ...createConfigPart('ModelOutput'), ...describe(tensor) })) }),
    ...(decoupled
      ? [
          `# Any number of answers to one request, also after execute has returned.\n${print({ model_transaction_policy: { decoupled } })}`,
        ]
      : []),
    `# One process each.\n${print({ instance_group: [group] })}`,
  ]
  return parts.join('\n')
}

function describe({ name, datatype, dims }: PythonTensor) {
  return { name, data_type: toConfigDatatype(datatype), dims: [...dims] }
}
