import { countElements, type Tensor } from '../tensor.ts'
import { JsonBuffer } from './json-buffer.ts'
import { writeParameter } from './encode-response.ts'
import type { ParameterValue } from './request.ts'
import type { InferResponse } from './response.ts'
import { writeData, writeElements } from './write-data.ts'

/**
 * Maps a response to the flat object of the generate extension (reference: front door §9.3): members in ascending
 * order of their names; of equal names the metadata wins, then parameters, then outputs.
 */
export function encodeGenerateResponse(response: InferResponse): Uint8Array {
  const members = new Map<string, ParameterValue | Tensor>()
  if (response.id !== '') members.set('id', response.id)
  members.set('model_name', response.model)
  members.set('model_version', response.version)
  for (const key of Object.keys(response.parameters)) add(members, key, response.parameters[key] ?? '')
  for (const output of response.outputs) add(members, output.name, output)

  const out = new JsonBuffer(512)
  let separator = 0x7b
  for (const [key, value] of [...members].sort(([a], [b]) => (a < b ? -1 : 1))) {
    out.byte(separator)
    separator = 0x2c
    out.text(key)
    out.byte(0x3a)
    if (typeof value !== 'object') writeParameter(out, value)
    else if (countElements(value.shape) === 1) writeElements(out, value)
    else writeData(out, value)
  }
  out.byte(0x7d)
  return out.finish()
}

function add(members: Map<string, ParameterValue | Tensor>, key: string, value: ParameterValue | Tensor): void {
  if (!members.has(key)) members.set(key, value)
}
