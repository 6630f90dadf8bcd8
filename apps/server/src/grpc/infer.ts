import { encodeInferMessage, readInferMessage } from '@conch/protocol'
import type { InferRequest, InferResponse } from '@conch/protocol'
import type { Call } from './call.ts'
import { prepareRequest, rank } from './prepare-request.ts'
import { UnaryCall } from './unary.ts'

/** ModelInfer (reference: gRPC §4). */
export class UnaryInfer extends UnaryCall {
  constructor(call: Call) {
    super(call, (bytes) => infer(call, bytes))
  }
}

async function infer(call: Call, bytes: Uint8Array): Promise<void> {
  const { engine } = call.face
  const { request } = prepareRequest(call, readInferMessage(bytes), false)
  answer(call, request, await engine.infer(request, { signal: call.signal }))
}

function answer(call: Call, request: InferRequest, response: InferResponse): void {
  const message = encodeInferMessage(rank(call.face, request, response))
  call.answer(message, call.face.options.compression)
}
