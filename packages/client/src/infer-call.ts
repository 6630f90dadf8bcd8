import {
  countElements,
  createRequest,
  type Datatype,
  type InferRequest,
  type ParameterValue,
  type RegionRange,
  type RequestedOutput,
  type RequestInput,
} from '@conch/protocol'
import { ClientError } from './error.ts'
import { encodeValues, type InputValues } from './values.ts'

interface Signature<D extends Datatype = Datatype> {
  readonly name: string
  readonly datatype: D
  /** Batch dimension included. */
  readonly shape: readonly number[]
}
/** An input: its elements as `values`, or as bytes (row-major, little-endian) in `data`, or where they lie in a registered region. */
export type InferInput =
  | { [D in Datatype]: Signature<D> & { readonly values: InputValues[D] } }[Datatype]
  | (Signature & { readonly data: Uint8Array })
  | (Signature & { readonly region: RegionRange })

export interface OutputChoice {
  readonly name: string
  /** The k largest elements as `value:index:label` texts instead of the tensor. */
  readonly classification?: number | undefined
  /** Have it written into a registered region; it comes back without data. */
  readonly region?: RegionRange | undefined
}

export interface Sequence {
  /** Correlation id: not 0, not empty. */
  readonly id: bigint | number | string
  readonly start?: boolean | undefined
  readonly end?: boolean | undefined
}

/** An inference as a caller puts it. */
export interface InferCall {
  readonly inputs: readonly InferInput[]
  /** By name, or with wishes; left out = every output of the model. */
  readonly outputs?: readonly (string | OutputChoice)[] | undefined
  /** Decimal text; left out = the newest that the policy of the model has. */
  readonly version?: string | undefined
  /** Comes back in the answer. */
  readonly id?: string | undefined
  readonly sequence?: Sequence | undefined
  /** 1 is the highest; left out = the model's default. */
  readonly priority?: number | undefined
  /** Microseconds that it may wait in the model's queue. */
  readonly queueTimeoutMicroseconds?: number | undefined
  /** Custom parameters; bigint for integers, number for doubles. */
  readonly parameters?: Readonly<Record<string, ParameterValue>> | undefined
}

const EMPTY = new Uint8Array(0)

/** The record both wires encode. `binary` is how outputs are to be delivered. */
export function toRequest(model: string, call: InferCall, binary = true): InferRequest {
  const request = createRequest({ model, version: call.version ?? '' })
  request.id = call.id ?? ''
  request.inputs = call.inputs.map(toInput)
  if (call.outputs === undefined) request.binaryOutputs = binary
  else request.outputs = call.outputs.map((output) => toOutput(output, binary))
  if (call.sequence !== undefined) setSequence(request, call.sequence)
  request.priority = call.priority ?? 0
  request.timeout = call.queueTimeoutMicroseconds ?? 0
  if (call.parameters !== undefined) request.parameters = call.parameters
  return request
}

function toInput(input: InferInput): RequestInput {
  const { name, datatype, shape } = input
  if ('region' in input) return { name, datatype, shape, data: EMPTY, region: input.region }
  if ('data' in input) return { name, datatype, shape, data: input.data, region: undefined }
  const count = countElements(shape)
  if (input.values.length === count)
    return { name, datatype, shape, data: encodeValues(datatype, input.values), region: undefined }
  const text = `input '${name}' has ${input.values.length} elements, its shape [${shape.join(',')}] asks for ${count}`
  throw new ClientError('INVALID_ARG', text)
}

function toOutput(output: string | OutputChoice, binary: boolean): RequestedOutput {
  if (typeof output === 'string') return { name: output, binary, classification: 0, region: undefined }
  const { name, classification = 0, region } = output
  return { name, binary: binary && region === undefined, classification, region }
}

function setSequence(request: InferRequest, { id, start = false, end = false }: Sequence): void {
  request.sequenceId = typeof id === 'number' ? BigInt(id) : id
  request.sequenceStart = start
  request.sequenceEnd = end
}
