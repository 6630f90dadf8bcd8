import type { Tensor } from '../tensor.ts'
import { writeParameters } from './encode-response.ts'
import { JsonBuffer } from './json-buffer.ts'
import type { InferRequest, RequestedOutput, RequestInput } from './request.ts'
import { collectParameters, regionParameters } from './request-parameters.ts'
import { writeData } from './write-data.ts'

/** The body of an infer request as a client sends it: the JSON part, then the binary inputs, which are views. */
export interface EncodedRequest {
  readonly json: Uint8Array
  readonly parts: readonly Uint8Array[]
  /** The value of Inference-Header-Content-Length; undefined = the body is JSON alone and needs none. */
  readonly headerLength: number | undefined
}

/** Encodes a request (reference: front door §6.2). Inputs travel as bytes, with `binaryInputs: false` as JSON. */
export function encodeRequestBody(request: InferRequest, binaryInputs = true): EncodedRequest {
  const out = new JsonBuffer(256 + 160 * request.inputs.length)
  const parts: Uint8Array[] = []
  out.byte(0x7b)
  if (request.id !== '') {
    out.ascii('"id":')
    out.text(request.id)
    out.byte(0x2c)
  }
  out.ascii('"inputs":[')
  let separator = ''
  for (const input of request.inputs) {
    out.ascii(separator)
    separator = ','
    writeInput(out, input, binaryInputs)
    if (binaryInputs && input.region === undefined) parts.push(input.data)
  }
  out.byte(0x5d)
  writeOutputs(out, request.outputs)
  const parameters = collectParameters(request)
  writeParameters(out, request.binaryOutputs ? { ...parameters, binary_data_output: true } : parameters)
  out.byte(0x7d)
  const json = out.finish()
  return { json, parts, headerLength: parts.length === 0 ? undefined : json.length }
}

function writeInput(out: JsonBuffer, input: RequestInput, binary: boolean): void {
  writeSignature(out, input)
  if (input.region !== undefined) writeParameters(out, regionParameters(input.region))
  else if (binary) out.ascii(`,"parameters":{"binary_data_size":${input.data.length}}`)
  else {
    out.ascii(',"data":')
    writeData(out, input)
  }
  out.byte(0x7d)
}

/** Everything but the closing brace. */
function writeSignature(out: JsonBuffer, { name, datatype, shape }: Omit<Tensor, 'data'>): void {
  out.ascii('{"name":')
  out.text(name)
  out.ascii(`,"shape":[${shape.join(',')}],"datatype":"${datatype}"`)
}

function writeOutputs(out: JsonBuffer, outputs: readonly RequestedOutput[]): void {
  if (outputs.length === 0) return
  out.ascii(',"outputs":[')
  let separator = '{"name":'
  for (const { name, classification, binary, region } of outputs) {
    out.ascii(separator)
    separator = ',{"name":'
    out.text(name)
    writeParameters(out, {
      ...(classification > 0 ? { classification: BigInt(classification) } : undefined),
      ...(region === undefined ? { binary_data: binary } : regionParameters(region)),
    })
    out.byte(0x7d)
  }
  out.byte(0x5d)
}
