import type { ModelConfig } from '@conch/protocol'
import { readOnnxSignature } from './read-model.ts'
import type { ModelFile } from './session.ts'

/**
 * Operators whose work follows from the values they are given and not from the sizes of the inputs: a few bytes could
 * ask for hours. A run on the calling thread cannot be stopped, so models that use them are never run there.
 */
const UNBOUNDED = new Set([
  'AffineGrid',
  'BeamSearch',
  'BlackmanWindow',
  'CenterCropPad',
  'Col2Im',
  'ConstantOfShape',
  'CropAndResize',
  'DFT',
  'Expand',
  'GreedySearch',
  'HammingWindow',
  'HannWindow',
  'ImageDecoder',
  'Loop',
  'MaxUnpool',
  'MelWeightMatrix',
  'OneHot',
  'Pad',
  'Range',
  'Resize',
  'STFT',
  'Sampling',
  'Scan',
  'SequenceMap',
  'Tile',
  'Upsample',
  'WhisperBeamSearch',
])

/** Whether the size of a model's inputs bounds what a run can cost. When in doubt it does not. */
export async function isBounded(config: ModelConfig, { path }: ModelFile): Promise<boolean> {
  if (config.model_operations !== undefined) return false
  try {
    const { operators } = await readOnnxSignature(path)
    return !operators.some((operator) => UNBOUNDED.has(operator))
  } catch {
    // Whether the file is a model is for the runtime to say.
    return false
  }
}
