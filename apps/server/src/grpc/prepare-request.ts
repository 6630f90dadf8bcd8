import { classifyOutputs, ConchError, parseInferMessage } from '@conch/protocol'
import type { InferMessage, InferRequest, InferResponse, ParsedInfer } from '@conch/protocol'
import { forwardHeaders } from '../header-forwarding.ts'
import type { Call } from './call.ts'
import type { Face } from './face.ts'
import { findVersion } from './version-text.ts'

export interface Prepared extends ParsedInfer {
  readonly decoupled: boolean
}

/** A request of a call, judged in the original's order (reference: gRPC §4): version, model, parameters, tensors, forwarded metadata. */
export function prepareRequest(call: Call, message: InferMessage, streams: boolean): Prepared {
  const { engine, forward } = call.face
  const version = findVersion(engine, message.model, message.version)
  const decoupled = engine.config(message.model, version).model_transaction_policy?.decoupled === true
  if (decoupled && !streams) {
    throw new ConchError('UNSUPPORTED', "ModelInfer RPC doesn't support models with decoupled transaction policy")
  }
  const parsed = parseInferMessage(message)
  const { request } = parsed
  request.version = version
  const forwarded = forward && forwardHeaders(call.metadata, forward)
  if (forwarded) request.parameters = { ...request.parameters, ...forwarded }
  return { ...parsed, decoupled }
}

/** The classification extension, for the outputs that asked for it. */
export function rank({ engine }: Face, request: InferRequest, response: InferResponse): InferResponse {
  if (request.outputs.length === 0 || !request.outputs.some(({ classification }) => classification > 0)) return response
  const { model, version } = response
  const batched = engine.config(model, version).max_batch_size > 0
  return classifyOutputs(response, request, { batched, labels: (output) => engine.labels(model, version, output) })
}
