import { toProtocolDatatype } from '@conch/protocol'
import type { ModelConfig, ModelInput, ModelOutput } from '@conch/protocol'
import type { ModelMetadata, TensorMetadata } from './contract.ts'

/** What clients are told of a version's tensors; the batch dimension is -1. */
export function describeTensors(config: ModelConfig, version: string): ModelMetadata {
  const describe = ({ name, data_type, dims }: ModelInput | ModelOutput): TensorMetadata => ({
    name,
    datatype: toProtocolDatatype(data_type) ?? 'INVALID',
    shape: config.max_batch_size > 0 ? [-1, ...dims] : dims,
  })
  return {
    name: config.name,
    versions: [version],
    platform: config.platform === '' ? config.backend : config.platform,
    inputs: config.input.map(describe),
    outputs: config.output.map(describe),
  }
}
