import { ConchError, parseInferMessage } from '@conch/protocol'
import type { InferMessage, ParsedInfer } from '@conch/protocol'
import { forwardHeaders } from '../header-forwarding.ts'
import type { Call } from './call.ts'
import { findVersion } from '../version-text.ts'

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
