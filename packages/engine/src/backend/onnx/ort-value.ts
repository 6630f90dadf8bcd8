import { checkStatus, receive, receiveSize } from './env.ts'
import type { Env } from './env.ts'
import type { Pointer } from './library.ts'

/** The null OrtValue: "none", and in a place for an output "make one". */
export const NO_VALUE: Pointer = 0n

let dims = new BigInt64Array(new ArrayBuffer(8 * 8))

/** The library copies the shape at once: one place serves all. */
function writeShape(shape: readonly number[]): BigInt64Array {
  if (shape.length > dims.length) dims = new BigInt64Array(new ArrayBuffer(8 * shape.length))
  for (let i = 0; i < shape.length; i++) dims[i] = BigInt(shape[i] ?? 0)
  return dims
}

export interface ValueMemory {
  readonly address: Pointer
  readonly size: number
}

/** A tensor over memory of ours, which must outlive it. The library refuses memory that is too small for the shape. */
export function createValue(
  { api, cpuMemory }: Env,
  { address, size }: ValueMemory,
  what: { readonly shape: readonly number[]; readonly elementType: number },
): Pointer {
  const { shape, elementType } = what
  return receive((out) =>
    api.CreateTensorWithDataAsOrtValue(cpuMemory, address, size, writeShape(shape), shape.length, elementType, out),
  )
}

/** A tensor in memory of the library's own: strings live nowhere else. */
export function createOwnedValue(
  { api, allocator }: Env,
  what: { readonly shape: readonly number[]; readonly elementType: number },
): Pointer {
  const { shape, elementType } = what
  return receive((out) => api.CreateTensorAsOrtValue(allocator, writeShape(shape), shape.length, elementType, out))
}

export function releaseValue({ api }: Env, value: Pointer): void {
  if (value !== NO_VALUE) api.ReleaseValue(value)
}

export function readShape({ api }: Env, value: Pointer): readonly number[] {
  const info = receive((out) => api.GetTensorTypeAndShape(value, out))
  try {
    const rank = receiveSize((out) => api.GetDimensionsCount(info, out))
    const shape = new BigInt64Array(new ArrayBuffer(8 * (rank + 1)))
    checkStatus(api.GetDimensions(info, shape, rank))
    return [...shape.subarray(0, rank)].map(Number)
  } finally {
    api.ReleaseTensorTypeAndShapeInfo(info)
  }
}

/** Copies the elements of a tensor (not of strings) out of the library's memory. */
export function copyElements({ api, library }: Env, value: Pointer, size: number): Uint8Array {
  const bytes = size <= Buffer.poolSize / 2 ? Buffer.allocUnsafe(size) : Buffer.allocUnsafeSlow(size)
  if (size > 0)
    library.copy(
      bytes,
      receive((out) => api.GetTensorMutableData(value, out)),
      size,
    )
  return bytes
}
