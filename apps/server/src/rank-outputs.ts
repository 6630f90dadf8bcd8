import { classifyOutputs } from '@conch/protocol'
import type { InferRequest, InferResponse } from '@conch/protocol'
import type { Engine } from '@conch/engine'

/** The classification extension, for the outputs that asked for it; most answers come back as they are. */
export function rankOutputs(engine: Engine, request: InferRequest, response: InferResponse): InferResponse {
  if (request.outputs.length === 0 || !request.outputs.some(({ classification }) => classification > 0)) return response
  const { model, version } = response
  const batched = engine.config(model, version).max_batch_size > 0
  return classifyOutputs(response, request, { batched, labels: (output) => engine.labels(model, version, output) })
}
