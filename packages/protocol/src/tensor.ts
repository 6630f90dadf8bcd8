import type { Datatype } from './datatype.ts'

/**
 * A named array on the wire or in memory.
 *
 * `data` holds the elements row-major, little-endian, without padding; BYTES elements are each preceded by their
 * length as a 4-byte little-endian integer. It is a view: whoever needs it longer than the request copies it.
 */
export interface Tensor {
  readonly name: string
  readonly datatype: Datatype
  /** Full shape, batch dimension included. Every entry is a non-negative safe integer. */
  readonly shape: readonly number[]
  readonly data: Uint8Array
}

/** Number of elements of a shape; 1 for a scalar. Infinity-safe: an overflow yields a number beyond 2^53. */
export function countElements(shape: readonly number[]): number {
  let count = 1
  for (const dim of shape) count *= dim
  return count
}
