import type { Tensor } from '../tensor.ts'
import { JsonBuffer } from './json-buffer.ts'
import type { InferRequest, ParameterValue, Parameters } from './request.ts'
import type { InferResponse } from './response.ts'
import { writeData } from './write-data.ts'
import { formatDouble } from './write-number.ts'

/** An infer response as it goes out: the JSON part, then the binary outputs, which are views and not copied. */
export interface EncodedResponse {
  readonly json: Uint8Array
  readonly parts: readonly Uint8Array[]
  /** True when there is at least one non-empty binary output; the content type and the length header follow it. */
  readonly binary: boolean
}

/** Encodes a response the way the request asked for each output (reference: front door §6.4). */
export function encodeInferResponse(response: InferResponse, request: InferRequest): EncodedResponse {
  const parts: Uint8Array[] = []
  const out = new JsonBuffer(estimateSize(response, request))
  out.byte(0x7b)
  if (response.id !== '') {
    out.ascii('"id":')
    out.text(response.id)
    out.byte(0x2c)
  }
  out.ascii('"model_name":')
  out.text(response.model)
  out.ascii(',"model_version":')
  out.text(response.version)
  writeParameters(out, response.parameters)
  out.ascii(',"outputs":[')
  let first = true
  for (const output of response.outputs) {
    if (!first) out.byte(0x2c)
    first = false
    writeOutput({ out, parts, request }, output)
  }
  out.ascii(']}')
  return { json: out.finish(), parts, binary: parts.length > 0 }
}

interface Writing {
  readonly out: JsonBuffer
  readonly parts: Uint8Array[]
  readonly request: InferRequest
}

function writeOutput(writing: Writing, output: Tensor): void {
  const { out, parts, request } = writing
  writeSignature(out, output)
  const requested = request.outputs.find((candidate) => candidate.name === output.name)
  if (requested?.region !== undefined) out.byte(0x7d)
  else if (requested?.binary ?? request.binaryOutputs) {
    out.ascii(`,"parameters":{"binary_data_size":${output.data.length}}}`)
    if (output.data.length > 0) parts.push(output.data)
  } else {
    out.ascii(',"data":')
    writeData(out, output)
    out.byte(0x7d)
  }
}

function writeSignature(out: JsonBuffer, output: Tensor): void {
  out.ascii('{"name":')
  out.text(output.name)
  out.ascii(`,"datatype":"${output.datatype}","shape":[${output.shape.join(',')}]`)
}

/** `,"parameters":{…}`; nothing for none. */
export function writeParameters(out: JsonBuffer, parameters: Parameters): void {
  let separator = ',"parameters":{'
  for (const key of Object.keys(parameters)) {
    out.ascii(separator)
    separator = ','
    out.text(key)
    out.byte(0x3a)
    writeParameter(out, parameters[key] ?? '')
  }
  if (separator === ',') out.byte(0x7d)
}

export function writeParameter(out: JsonBuffer, value: ParameterValue): void {
  if (typeof value === 'string') out.text(value)
  else if (typeof value === 'number') out.ascii(formatDouble(value))
  else out.ascii(String(value))
}

/** Enough for most responses; the buffer grows where it is not. */
function estimateSize(response: InferResponse, request: InferRequest): number {
  let size = 256
  for (const output of response.outputs) size += request.binaryOutputs ? 160 : 160 + output.data.length * 3
  return size
}
