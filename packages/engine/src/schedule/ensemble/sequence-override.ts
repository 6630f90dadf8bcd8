import { ConchError } from '@conch/protocol'
import type { InferRequest, Parameters } from '@conch/protocol'

/** What a step's response says about sequences: it holds for the steps that take its tensors (ensemble §2.5). */
export type SequenceOverride = Partial<Pick<InferRequest, 'sequenceId' | 'sequenceStart' | 'sequenceEnd'>>

/** Undefined when it says nothing. Throws INVALID_ARG for other types. */
export function readOverride(parameters: Parameters): SequenceOverride | undefined {
  const { sequence_id: id, sequence_start: start, sequence_end: end } = parameters
  if (id === undefined && start === undefined && end === undefined) return undefined
  const override: SequenceOverride = {}
  if (id !== undefined) override.sequenceId = readId(id)
  if (start !== undefined) override.sequenceStart = readFlag('sequence_start', start)
  if (end !== undefined) override.sequenceEnd = readFlag('sequence_end', end)
  return override
}

function readId(id: Parameters[string]): bigint | string {
  if (typeof id === 'bigint' || typeof id === 'string') return id
  const types = 'TRITONSERVER_PARAMETER_INT or TRITONSERVER_PARAMETER_STRING'
  throw new ConchError('INVALID_ARG', `expected parameter 'sequence_id' to be ${types}`)
}

function readFlag(name: string, value: Parameters[string]): boolean {
  if (typeof value === 'boolean') return value
  throw new ConchError('INVALID_ARG', `expect parameter '${name}' to be TRITONSERVER_PARAMETER_BOOL`)
}

/** As it stands in a response. */
export function printOverride(override: SequenceOverride): Parameters {
  return {
    ...(override.sequenceId === undefined ? {} : { sequence_id: override.sequenceId }),
    ...(override.sequenceStart === undefined ? {} : { sequence_start: override.sequenceStart }),
    ...(override.sequenceEnd === undefined ? {} : { sequence_end: override.sequenceEnd }),
  }
}
