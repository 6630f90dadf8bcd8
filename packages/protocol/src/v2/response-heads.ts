import type { Tensor } from '../tensor.ts'
import { encodeInferResponse, type EncodedResponse } from './encode-response.ts'
import type { InferRequest, Parameters, RequestedOutput } from './request.ts'
import type { InferResponse } from './response.ts'

const MOST = 16
/** Longest JSON part that is remembered, in bytes. */
const LONGEST = 4_096

/** What the JSON part of a response depends on when all of its outputs are binary. */
interface Head {
  readonly model: string
  readonly version: string
  readonly parameters: Parameters
  readonly asked: readonly RequestedOutput[]
  readonly binaryOutputs: boolean
  readonly outputs: readonly Signature[]
  readonly json: Uint8Array
}
interface Signature {
  readonly name: string
  readonly datatype: string
  readonly shape: readonly number[]
  readonly size: number
}

/**
 * Encodes infer responses as `encodeInferResponse` does and remembers the JSON parts of those whose outputs are all
 * binary: answers to like requests differ in their elements only.
 */
export class ResponseHeads {
  readonly #heads: Head[] = []

  encode(response: InferResponse, request: InferRequest): EncodedResponse {
    if (response.id !== '') return encodeInferResponse(response, request)
    for (let i = 0; i < this.#heads.length; i += 1) {
      const head = this.#heads[i]
      if (head !== undefined && isSame(head, response, request))
        return { json: head.json, ...collect(response.outputs) }
    }
    const encoded = encodeInferResponse(response, request)
    if (encoded.json.length <= LONGEST && isBinary(encoded, response.outputs))
      this.#remember(response, request, encoded)
    return encoded
  }

  #remember(response: InferResponse, request: InferRequest, { json }: EncodedResponse): void {
    const { model, version, parameters, outputs } = response
    if (this.#heads.length === MOST) this.#heads.pop()
    this.#heads.unshift({
      model,
      version,
      parameters,
      asked: request.outputs,
      binaryOutputs: request.binaryOutputs,
      outputs: outputs.map(({ name, datatype, shape, data }) => ({ name, datatype, shape, size: data.length })),
      json: json.slice(),
    })
  }
}

/** Every output went out as bytes of its own, and none of them is empty. */
function isBinary({ parts }: EncodedResponse, outputs: readonly Tensor[]): boolean {
  return parts.length > 0 && parts.length === outputs.length
}

function isSame(head: Head, response: InferResponse, request: InferRequest): boolean {
  const { outputs } = response
  if (outputs.length !== head.outputs.length || response.parameters !== head.parameters) return false
  if (head.asked !== request.outputs && head.asked.length + request.outputs.length > 0) return false
  if (head.binaryOutputs !== request.binaryOutputs) return false
  if (head.model !== response.model || head.version !== response.version) return false
  for (let i = 0; i < outputs.length; i += 1) {
    const output = outputs[i]
    const known = head.outputs[i]
    if (output === undefined || known === undefined || !isLike(known, output)) return false
  }
  return true
}

function isLike(known: Signature, { name, datatype, shape, data }: Tensor): boolean {
  if (known.size !== data.length || known.datatype !== datatype || known.name !== name) return false
  if (known.shape === shape) return true
  if (known.shape.length !== shape.length) return false
  for (let i = 0; i < shape.length; i += 1) if (known.shape[i] !== shape[i]) return false
  return true
}

function collect(outputs: readonly Tensor[]): { parts: readonly Uint8Array[]; binary: boolean } {
  const parts: Uint8Array[] = []
  for (const { data } of outputs) parts.push(data)
  return { parts, binary: true }
}
