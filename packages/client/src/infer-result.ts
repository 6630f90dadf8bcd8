import type { Datatype, InferResponse, Parameters, Tensor } from '@conch/protocol'
import { ClientError } from './error.ts'
import { readTexts, readValues, type OutputValues } from './values.ts'

/** The answer to an inference. Its tensors are views on what was received: they keep all of it in memory. */
export class InferResult {
  readonly model: string
  /** The version that answered. */
  readonly version: string
  readonly id: string
  readonly parameters: Parameters
  readonly outputs: readonly Tensor[]

  constructor({ model, version, id, parameters, outputs }: InferResponse) {
    this.model = model
    this.version = version
    this.id = id
    this.parameters = parameters
    this.outputs = outputs
  }

  output(name: string): Tensor {
    const found = this.outputs.find((output) => output.name === name)
    if (found !== undefined) return found
    const names = this.outputs.map((output) => output.name).join(', ')
    throw new ClientError('NOT_FOUND', `the answer of '${this.model}' has no output '${name}'; it has: ${names}`)
  }

  /** The elements of an output, typed by the datatype it must have. */
  values<D extends Datatype>(name: string, datatype: D): OutputValues[D] {
    return readValues(this.output(name), datatype)
  }

  /** The elements of a BYTES output as text: strings, or classifications. */
  texts(name: string): string[] {
    return readTexts(this.output(name))
  }
}
