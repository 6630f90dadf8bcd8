import { createRequest } from '@conch/protocol'
import type { InferRequest } from '@conch/protocol'
import { readParameters } from './frames.ts'
import type { CallRequest } from './frames.ts'
import type { Harvest } from './response-arena.ts'

const [SEQUENCE_START, SEQUENCE_END] = [1, 2]

/** What a model wants to have run. Its tensors are whole when the harvest is. */
export function readNestedRequest(call: CallRequest, harvest: Harvest): InferRequest {
  const { flags = 0, timeout = 0, params, outs = [], seq = '0' } = call
  const request = createRequest({ model: call.model, version: readVersion(call.version) })
  request.id = call.id ?? ''
  request.sequenceId = typeof seq === 'string' ? BigInt(seq) : seq.s
  request.sequenceStart = (flags & SEQUENCE_START) !== 0
  request.sequenceEnd = (flags & SEQUENCE_END) !== 0
  request.timeout = timeout
  if (params !== undefined) request.parameters = readParameters(params)
  request.inputs = harvest.claim(call.in).map((entry) => harvest.take(entry))
  request.outputs = outs.map((name) => ({ name, binary: true, classification: 0, region: undefined }))
  request.binaryOutputs = true
  return request
}

function readVersion(version: string | number | undefined): string {
  const text = String(version ?? '')
  return text === '-1' ? '' : text
}
