import { encodeInferMessage, readInferMessage } from '@conch/protocol'
import { newTimings } from '@conch/engine'
import type { InferRequest, InferResponse } from '@conch/protocol'
import type { Call } from './call.ts'
import { rankOutputs } from '../rank-outputs.ts'
import { prepareRequest } from './prepare-request.ts'
import { describeError, STATUS } from './status.ts'
import { UnaryCall } from './unary.ts'
import { watchCall } from './watch.ts'
import type { Watch } from '../tracing/watch.ts'

/** ModelInfer (reference: gRPC §4). */
export class UnaryInfer extends UnaryCall {
  constructor(call: Call) {
    const watch = watchCall(call)
    super(call, (bytes) => infer(call, bytes, watch))
  }
}

async function infer(call: Call, bytes: Uint8Array, watch: Watch): Promise<void> {
  const { engine } = call.face
  watch.received(bytes.length)
  try {
    const { request } = prepareRequest(call, readInferMessage(bytes), false)
    const timings = newTimings()
    const trace = watch.begin(request, timings)
    const response = await engine.infer(request, { signal: call.signal, timings, trace, headers: call })
    watch.sending()
    answer(call, request, response)
    watch.sent({ status: STATUS.OK, bytes: call.sentBytes })
  } catch (error) {
    watch.sending()
    watch.sent({ status: describeError(error).status, bytes: 0 })
    throw error
  }
}

function answer(call: Call, request: InferRequest, response: InferResponse): void {
  const message = encodeInferMessage(rankOutputs(call.face.engine, request, response))
  call.answer(message, call.face.options.compression)
}
