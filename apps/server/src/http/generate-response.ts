import { encodeInferResponse } from '@conch/protocol'
import type { InferRequest, InferResponse, ParameterValue, Tensor } from '@conch/protocol'
import { countElements } from '@conch/protocol'
import { formatValue } from './generate-request.ts'

/** A flat object, its keys in byte order; where names clash, id and model come before parameters, those before tensors. */
export function formatGenerated(response: InferResponse, request: InferRequest): string {
  const members = new Map<string, string>()
  if (response.id !== '') members.set('id', JSON.stringify(response.id))
  members.set('model_name', JSON.stringify(response.model))
  members.set('model_version', JSON.stringify(response.version))
  for (const [key, value] of Object.entries(response.parameters))
    keepFirst(members, key, formatValue(value as ParameterValue))
  for (const tensor of response.outputs) keepFirst(members, tensor.name, formatTensor(tensor, request))
  const keys = [...members.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return `{${keys.map((key) => `${JSON.stringify(key)}:${members.get(key) ?? 'null'}`).join(',')}}`
}

function keepFirst(members: Map<string, string>, key: string, text: string): void {
  if (!members.has(key)) members.set(key, text)
}

const DATA = '"data":'

/** A single element stands alone, anything else is a flat list. Written by the writer of infer responses. */
function formatTensor(tensor: Tensor, request: InferRequest): string {
  const alone: InferResponse = { model: '', version: '', id: '', parameters: {}, outputs: [{ ...tensor, name: 'x' }] }
  const { json } = encodeInferResponse(alone, { ...request, outputs: [], binaryOutputs: false })
  const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString()
  const list = text.slice(text.indexOf(DATA) + DATA.length, -'}]}'.length)
  return countElements(tensor.shape) === 1 ? list.slice(1, -1) : list
}
