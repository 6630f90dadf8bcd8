import type { InferRequest, Parameters, RegionRange } from './request.ts'

/** The parameters that a client sends: the request's own fields among them, where they say something. */
export function collectParameters(request: InferRequest): Parameters {
  const { sequenceId, sequenceStart, sequenceEnd, priority, timeout, parameters } = request
  const sequence =
    sequenceId === 0n || sequenceId === ''
      ? undefined
      : { sequence_id: sequenceId, sequence_start: sequenceStart, sequence_end: sequenceEnd }
  return {
    ...parameters,
    ...sequence,
    ...(priority === 0 ? undefined : { priority: BigInt(priority) }),
    ...(timeout === 0 ? undefined : { timeout: BigInt(timeout) }),
  }
}

/** How a tensor says that it lies in shared memory. */
export function regionParameters({ name, offset, byteSize }: RegionRange): Parameters {
  const where = { shared_memory_region: name, shared_memory_byte_size: BigInt(byteSize) }
  return offset === 0 ? where : { ...where, shared_memory_offset: BigInt(offset) }
}
