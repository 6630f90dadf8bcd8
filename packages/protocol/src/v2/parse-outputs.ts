import { ConchError } from '../status.ts'
import { readBooleanMember, readStringMember, readUnsignedMember } from './json-members.ts'
import { parseRegion } from './parse-inputs.ts'
import type { RequestedOutput } from './request.ts'
import type { TensorSpan } from './request-scan.ts'

/** Judges the found outputs. An output named twice is asked for once, as the first entry says. */
export function parseOutputs(s: Uint8Array, spans: readonly TensorSpan[]): RequestedOutput[] {
  const outputs: RequestedOutput[] = []
  const names = new Set<string>()
  for (const span of spans) {
    if (!span.isObject) throw new ConchError('INTERNAL', 'attempt to access JSON non-object as object')
    const output = parseOutput(s, span)
    if (names.size !== names.add(output.name).size) outputs.push(output)
  }
  return outputs
}

function parseOutput(s: Uint8Array, span: TensorSpan): RequestedOutput {
  const name = readStringMember(s, span.name, 'name')
  const classification = span.classification < 0 ? 0 : readUnsignedMember(s, span.classification, 'classification')
  const binary = span.binaryData >= 0 && readBooleanMember(s, span.binaryData, 'binary_data')
  const region = span.region < 0 ? undefined : parseRegion(s, span)
  if (region !== undefined && classification > 0) failConflict('classification')
  if (region !== undefined && binary) failConflict('binary_data')
  return { name, binary, classification, region }
}

function failConflict(other: string): never {
  throw new ConchError('INVALID_ARG', `Output can't set both 'shared_memory_region' and '${other}'`)
}
