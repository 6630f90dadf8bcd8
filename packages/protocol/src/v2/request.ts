import type { Tensor } from '../tensor.ts'

/** A JSON integer travels as bigint, any other number as number, so that nothing is lost. */
export type ParameterValue = string | bigint | number | boolean
export type Parameters = Readonly<Record<string, ParameterValue>>

/** How one output is to be delivered. */
export interface RequestedOutput {
  readonly name: string
  /** Deliver as raw bytes behind the JSON part. */
  readonly binary: boolean
  /** Top-k classification; 0 = off. */
  readonly classification: number
  /** Shared memory target, when the client asked for one. */
  readonly region: RegionRange | undefined
}

export interface RegionRange {
  readonly name: string
  readonly offset: number
  readonly byteSize: number
}

/** An input as the client sent it. */
export interface RequestInput extends Tensor {
  /** Where the elements are when they did not come with the request; `data` is empty then. */
  readonly region?: RegionRange | undefined
}

/** One inference request, whichever wire brought it. All fields exist from birth: it is the hot path's record. */
export interface InferRequest {
  model: string
  /** Decimal text; empty = the highest ready version. */
  version: string
  /** Empty = none. */
  id: string
  /** Correlation id; 0n or '' = not part of a sequence. */
  sequenceId: bigint | string
  sequenceStart: boolean
  sequenceEnd: boolean
  /** 0 = the model's default. */
  priority: number
  /** Microseconds; 0 = the model's default. */
  timeout: number
  /** What remains of `parameters` after the fields above. */
  parameters: Parameters
  inputs: readonly RequestInput[]
  /** Empty = every output of the model. */
  outputs: readonly RequestedOutput[]
  /** Delivery of outputs that are not listed in `outputs`. */
  binaryOutputs: boolean
}

/** What a body is meant for. */
export interface RequestTarget {
  readonly model: string
  /** Decimal text; empty = the highest ready version. */
  readonly version: string
  /** `--http-max-input-size`, bytes. */
  readonly maxInputSize: number
}
