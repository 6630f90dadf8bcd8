import type { Tensor } from '../tensor.ts'
import type { Parameters } from './request.ts'

export interface InferResponse {
  model: string
  /** The version that answered, decimal text. */
  version: string
  id: string
  parameters: Parameters
  outputs: readonly Tensor[]
}
